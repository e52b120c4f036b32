// The command as it can be typed again, for "how to reproduce" in records and reports. Pure.

/** Quotes what a shell would take apart. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** envladder ladder --plan smoke */
export function typedCommand(words: readonly string[]): string {
  return ['envladder', ...words].map(quoted).join(' ');
}
