// A plain table for the terminal: columns as wide as their widest cell, two spaces between, the last cell painted by the caller. Pure.

export interface TextColumn {
  readonly heading: string;
  readonly align: 'left' | 'right';
}

/** Lines without a frame, headings first; trailing spaces are cut. */
export function textColumns(columns: readonly TextColumn[], rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map(({ heading }, i) => Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, i) => (align === 'right' ? (cells[i] ?? '').padStart(widths[i] ?? 0) : (cells[i] ?? '').padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(columns.map(({ heading }) => heading)), ...rows.map(line)];
}
