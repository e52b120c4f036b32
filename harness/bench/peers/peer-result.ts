// What a side-by-side run came to, ready to be printed: figures, ratios to envladder's own, dashes. The machine-readable form is this very
// object, `samples` included, so that every figure in the table can be computed again.
import type { MachineFacts } from '../../contract/run-record.js';
import { type Estimate, estimate } from '../estimate.js';
import { MAX_FOREIGN_CORES } from '../windows.js';
import { type PairedRatio, pairedRatio } from './paired-ratio.js';
import type { PeerEntry, Sample } from './peer-entry.js';
import type { PeerRow } from './peer-rows.js';

export interface EntryResult {
  readonly system: string;
  readonly peer: string;
  readonly label: string;
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly runs: number;
  /** How many times better envladder's first entry of the row did; null for that entry itself and where a side has no figure. */
  readonly envladder_is: PairedRatio | null;
  readonly cores: number | null;
  /** Of the worst round that counts. */
  readonly foreign_cores: number | null;
  readonly disturbed: number;
  readonly pss_bytes: number | null;
  readonly versions: Readonly<Record<string, string>>;
  /** Why there is no figure. */
  readonly reason: string | null;
  readonly failed: boolean;
  readonly note: string;
  readonly samples: readonly (Sample | null)[];
}

export interface RowResult {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  readonly entries: readonly EntryResult[];
}

export interface PeerReport {
  readonly machine: MachineFacts;
  readonly taken: string;
  readonly quick: boolean;
  readonly rows: readonly RowResult[];
}

const present = (samples: readonly (Sample | null)[]): Sample[] => samples.filter((sample) => sample !== null);

/** Pairs of the rounds that both sides have. */
function pairs(own: readonly (Sample | null)[], peer: readonly (Sample | null)[]): (readonly [number, number])[] {
  return own.flatMap((sample, round) => {
    const other = peer[round];
    return sample === null || other === null || other === undefined ? [] : [[sample.value, other.value] as const];
  });
}

function extraNote(samples: readonly Sample[]): string {
  const median = (key: string): number | null => {
    const values = samples.map(({ extra }) => extra[key]).filter((value) => value !== undefined);
    return values.length === 0 ? null : estimate(values).value;
  };
  const importS = median('importS');
  const processes = median('processes');
  return [
    importS === null ? '' : `imports ${importS.toFixed(1)} s`,
    processes === null ? '' : `${processes} ${processes === 1 ? 'process' : 'processes'}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function entryResult(entry: PeerEntry, own: PeerEntry | undefined, better: PeerRow['better']): EntryResult {
  const samples = present(entry.samples);
  const figure: Estimate | null = samples.length === 0 ? null : estimate(samples.map(({ value }) => value));
  const paired = own === undefined || own === entry ? [] : pairs(own.samples, entry.samples);
  const cores = samples.map((sample) => sample.cores).filter((value) => value !== null);
  return {
    system: entry.contender.id,
    peer: entry.contender.peer,
    label: entry.contender.label,
    value: figure?.value ?? null,
    low: figure?.low ?? null,
    high: figure?.high ?? null,
    runs: samples.length,
    envladder_is: paired.length === 0 ? null : pairedRatio(paired, better),
    cores: cores.length === 0 ? null : estimate(cores).value,
    foreign_cores: samples.length === 0 ? null : Math.max(...samples.map(({ foreignCores }) => foreignCores)),
    disturbed: samples.filter(({ foreignCores }) => foreignCores > MAX_FOREIGN_CORES).length,
    pss_bytes: entry.pssBytes,
    versions: entry.versions,
    reason: entry.reason,
    failed: entry.failed,
    note: [entry.note, extraNote(samples)].filter((part) => part !== '').join('; '),
    samples: entry.samples,
  };
}

/** The result of one row; ratios are against envladder's first entry that has samples. */
export function rowResult({ name, title, unit, better }: PeerRow, entries: readonly PeerEntry[]): RowResult {
  const own = entries.find(({ contender, samples }) => contender.peer === 'envladder' && present(samples).length > 0);
  return { name, title, unit, better, entries: entries.map((entry) => entryResult(entry, own, better)) };
}
