// What one contender of a row came to: its samples by round, or why there are none.
import type { Contender } from './peer-rows.js';

/** One round's figure and what the machine was doing meanwhile. */
export interface Sample {
  readonly value: number;
  readonly foreignCores: number;
  /** Cores that the contender itself used; null where it was not looked at. */
  readonly cores: number | null;
  /** More that was seen in the same round (steps of a learning run, seconds of imports, bytes). */
  readonly extra: Readonly<Record<string, number>>;
}

export interface PeerEntry {
  readonly contender: Pick<Contender, 'id' | 'peer' | 'label'>;
  /** By round; null where this round gave none. Empty when `reason` is set. */
  readonly samples: readonly (Sample | null)[];
  readonly pssBytes: number | null;
  readonly versions: Readonly<Record<string, string>>;
  /** A dash's reason. */
  readonly reason: string | null;
  /** It was tried and failed, unlike what cannot be tried. */
  readonly failed: boolean;
  /** In words: of a fault, of seeds that did not learn. */
  readonly note: string;
}

/** A contender without figures. */
export function dash({ id, peer, label }: Contender, reason: string, failed = false): PeerEntry {
  return { contender: { id, peer, label }, samples: [], pssBytes: null, versions: {}, reason, failed, note: '' };
}
