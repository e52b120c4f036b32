// The one way a value gets into the text of a shell command. Everything that is run on a host goes through here; a property test checks that
// bash gives the same bytes back. Bounds: no NUL (no argument can hold one) and no line break (a script's values are one line each).
import { EnvladderError } from '../harness/contract/errors.js';

/** Quotes one word for a POSIX shell. Words of harmless characters stay bare so that a person can read the command. */
export function shellQuote(value: string): string {
  const found = value.includes('\0') ? 'a NUL byte' : /[\n\r]/.test(value) ? 'a line break' : null;
  if (found !== null) {
    throw new EnvladderError(
      'bad-usage',
      `a value for the host holds ${found}, which no argument of a rig script may: ${JSON.stringify(value.slice(0, 40))}`,
    );
  }
  if (/^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(value)) return value;
  return `'${value.replaceAll("'", `'\\''`)}'`;
}

/** `key=value` words in the order of the keys, so that the text depends on the values alone. */
export function shellParams(params: Readonly<Record<string, string>>): string {
  return Object.keys(params)
    .sort()
    .map((key) => shellQuote(`${key}=${params[key]}`))
    .join(' ');
}

/** `name=value` lines for a script's stdin. A value that would be two lines is refused without being shown. */
export function stdinLines(values: Readonly<Record<string, string>>): string {
  return Object.keys(values)
    .sort()
    .map((name) => {
      const value = values[name] ?? '';
      if (/[\0\n\r]/.test(value))
        throw new EnvladderError('bad-usage', `the secret ${name} holds a line break or a NUL byte; it must be one line`);
      return `${name}=${value}\n`;
    })
    .join('');
}
