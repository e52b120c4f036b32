// The balance of a tier or run as the terms of one sum: published = trained + evaluated + superseded + in flight + each drop. Pure.
import type { Balance } from '../../harness/contract/run-record.js';

export interface BalanceTerm {
  readonly name: string;
  readonly count: number;
}

export interface BalanceSum {
  readonly published: number;
  /** Trained, evaluated, superseded, in flight, then drops by reason, in the record's order. */
  readonly terms: readonly BalanceTerm[];
  /** published - sum of the terms: 0, or the record contradicts itself. */
  readonly gap: number;
}

export function sumBalance(balance: Balance): BalanceSum {
  const terms = [
    { name: 'trained', count: balance.trained },
    { name: 'evaluated', count: balance.evaluated },
    { name: 'superseded', count: balance.superseded },
    { name: 'in flight', count: balance.in_flight },
    ...Object.entries(balance.dropped).map(([reason, count]) => ({ name: `dropped (${reason})`, count })),
  ];
  return { published: balance.published, terms, gap: terms.reduce((rest, term) => rest - term.count, balance.published) };
}
