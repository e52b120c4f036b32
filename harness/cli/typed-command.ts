// The command as it can be typed again, for "how to reproduce" in records and reports. Pure.

/** What was decided for the user, so that the command runs the same on another machine. */
export interface AsRan {
  readonly workers: number;
  /** `auto`: not decided yet; the ladder adds the one it got. */
  readonly backend: string;
}

/** A folder can be used once: typed again, the command makes its own. */
const ONCE: readonly string[] = ['--out'];
const DECIDED: readonly string[] = ['--workers', '--backend'];

/** Quotes what a shell would take apart. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Takes `--name VALUE` and `--name=VALUE` out. */
function without(words: readonly string[], names: readonly string[]): readonly string[] {
  return words.filter(
    (word, index) => !names.includes(word) && !names.includes(words[index - 1] ?? '') && !names.some((name) => word.startsWith(`${name}=`)),
  );
}

/** npm run ladder -- --plan smoke --workers 1 */
export function typedCommand(words: readonly string[], ran?: AsRan): string {
  const [first, ...rest] = words;
  const start = first === 'ladder' ? ['npm', 'run', 'ladder', '--', ...rest] : ['npm', 'run', '-s', 'envladder', '--', ...words];
  const kept = without(start, ran === undefined ? ONCE : [...ONCE, ...DECIDED]);
  const decided =
    ran === undefined ? [] : ['--workers', String(ran.workers), ...(ran.backend === 'auto' ? [] : ['--backend', ran.backend])];
  return [...kept, ...decided].map(quoted).join(' ');
}
