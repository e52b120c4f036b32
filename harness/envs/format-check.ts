// Text of `envladder env check` and `envladder env list`, from their data. Pure.
import type { CheckReport } from './check.js';
import type { Registry } from './registry.js';

const MARK = { pass: 'ok  ', fail: 'FAIL', warn: 'warn', skip: 'skip' } as const;

/** One line per check, then the sum. */
export function formatCheckReport(report: CheckReport): string {
  const width = Math.max(...report.lines.map((line) => line.name.length));
  const body = report.lines.map((line) => `  ${MARK[line.status]}  ${line.name.padEnd(width)}  ${line.detail}`);
  const failed = report.lines.filter((line) => line.status === 'fail').length;
  const sum = report.ok ? 'keeps the contract' : `breaks the contract: ${failed} of ${report.lines.length} checks failed`;
  return [`${report.kind} ${report.version} (${report.origin})`, ...body, `${report.kind} ${sum}`].join('\n');
}

export interface KindListing {
  readonly name: string;
  readonly version: string;
  readonly origin: string;
  readonly summary: string;
}

/** Every known kind, built-in ones first. */
export function listKinds(registry: Registry): readonly KindListing[] {
  return [...registry.values()].map(({ kind, origin }) => ({ name: kind.name, version: kind.version, origin, summary: kind.summary }));
}

/** One line per kind. */
export function formatKindList(kinds: readonly KindListing[]): string {
  const width = Math.max(...kinds.map((kind) => kind.name.length));
  return kinds
    .map((kind) => `${kind.name.padEnd(width)}  ${kind.version}  ${kind.summary}${kind.origin === 'built-in' ? '' : `  (${kind.origin})`}`)
    .join('\n');
}
