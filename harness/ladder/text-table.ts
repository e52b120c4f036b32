// A plain table for the terminal: columns as wide as their widest cell, two spaces between. Pure.

/** Lines without a frame; trailing spaces are cut. */
export function textTable(headings: readonly string[], rows: readonly (readonly string[])[], align: readonly ('left' | 'right')[]): string {
  const widths = headings.map((heading, column) => Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (align[column] === 'right' ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(headings), ...rows.map(line)].join('\n');
}
