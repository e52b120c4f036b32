// The errors of a whole run by fingerprint, merged from the tables of all lines. Fed once a second. Counts only rise: what a table loses when a
// cell goes to another kind stays known here. total = sum of the counts + lost + unlisted, always. Bounded by MOST_FINGERPRINTS.
import type { Fingerprint } from '../../contract/error-record.js';
import type { Crew } from '../../supervisor/crew.js';

/** Kinds of error kept; real runs have some tens. Beyond it errors are counted without their kind. */
export const MOST_FINGERPRINTS = 1000;
const MOST_ENV_IDS = 8;
const MOST_ENTRIES = 50;

type Tables = ReturnType<Crew['errors']>;
type Cell = Tables[number]['cells'][number];

/** One cell of one line while it belongs to one kind. */
interface CellTrack {
  firstMs: number;
  count: number;
  envs: number;
}

interface Kind {
  count: number;
  firstMs: number;
  lastMs: number;
  readonly entries: Map<string, number>;
  readonly envIds: Set<number>;
  /** By line and entry: an env is of one line and one entry, so these add up. */
  readonly envs: Map<string, number>;
  readonly workers: Set<number>;
  readonly exemplar: Cell['exemplar'];
}

export interface ErrorCounts {
  readonly total: number;
  readonly distinct: number;
  readonly lost: number;
  readonly unlisted: number;
}

export interface ErrorMerge {
  take(tables: Tables): void;
  counts(): ErrorCounts;
  /** The `limit` most frequent kinds. */
  top(limit: number): Fingerprint[];
}

/** `beganMs`: the run's start on the clock of the tables. */
export function createErrorMerge(beganMs: number): ErrorMerge {
  const kinds = new Map<string, Kind>();
  const tracks = new Map<string, CellTrack>();
  const totals: number[] = [];
  let listed = 0;
  let unlisted = 0;

  /** What came since the last look. A cell that was taken anew begins at 0 again. */
  function newIn(line: number, cell: Cell): number {
    const key = `${line} ${cell.fingerprint} ${cell.exemplar.entry}`;
    const track = tracks.get(key);
    if (track === undefined) {
      if (tracks.size >= 4 * MOST_FINGERPRINTS) return 0;
      tracks.set(key, { firstMs: cell.firstMs, count: cell.count, envs: cell.envs });
      return cell.count;
    }
    if (cell.firstMs < track.firstMs) return 0;
    const fresh = cell.firstMs > track.firstMs || cell.count < track.count;
    const more = fresh ? cell.count : cell.count - track.count;
    track.firstMs = cell.firstMs;
    track.count = cell.count;
    track.envs = Math.max(track.envs, cell.envs);
    return more;
  }

  function addTo(kind: Kind, line: number, cell: Cell, more: number): void {
    const { entry } = cell.exemplar;
    kind.count += more;
    kind.firstMs = Math.min(kind.firstMs, cell.firstMs);
    kind.lastMs = Math.max(kind.lastMs, cell.lastMs);
    if (kind.entries.has(entry) || kind.entries.size < MOST_ENTRIES) kind.entries.set(entry, (kind.entries.get(entry) ?? 0) + more);
    const key = `${line} ${entry}`;
    kind.envs.set(key, Math.max(kind.envs.get(key) ?? 0, cell.envs));
    for (const id of cell.envIds) if (kind.envIds.size < MOST_ENV_IDS) kind.envIds.add(id);
    kind.workers.add(line);
  }

  function take(tables: Tables): void {
    for (const [line, { cells, lost }] of tables.entries()) {
      const total = cells.reduce((sum, cell) => sum + cell.count, lost);
      totals[line] = Math.max(totals[line] ?? 0, total);
      for (const cell of cells) {
        const more = newIn(line, cell);
        let kind = kinds.get(cell.fingerprint);
        if (kind === undefined) {
          if (kinds.size >= MOST_FINGERPRINTS) {
            unlisted += more;
            continue;
          }
          kind = {
            count: 0,
            firstMs: cell.firstMs,
            lastMs: cell.lastMs,
            entries: new Map(),
            envIds: new Set(),
            envs: new Map(),
            workers: new Set(),
            exemplar: cell.exemplar,
          };
          kinds.set(cell.fingerprint, kind);
        }
        addTo(kind, line, cell, more);
        listed += more;
      }
    }
  }

  const total = () => totals.reduce((sum, of) => sum + (of ?? 0), 0);
  const runS = (ms: number) => Math.max(0, Math.round(ms - beganMs) / 1000);

  return {
    take,
    // A look that meets a writer in its middle may know of an error in a cell before it does in the sum: never below 0.
    counts: () => ({ total: total(), distinct: kinds.size, lost: Math.max(0, total() - listed - unlisted), unlisted }),
    top(limit) {
      const all = Math.max(1, total());
      return [...kinds.entries()]
        .sort(([aName, a], [bName, b]) => b.count - a.count || (aName < bName ? -1 : 1))
        .slice(0, limit)
        .map(([fingerprint, kind]) => ({
          fingerprint,
          count: kind.count,
          share: Math.min(1, kind.count / all),
          first_s: runS(kind.firstMs),
          last_s: runS(kind.lastMs),
          entries: Object.fromEntries(kind.entries),
          envs: [...kind.envs.values()].reduce((sum, envs) => sum + envs, 0),
          env_ids: [...kind.envIds],
          workers: [...kind.workers].sort((a, b) => a - b),
          exemplar: {
            env_id: kind.exemplar.envId,
            entry: kind.exemplar.entry,
            operation: kind.exemplar.operation,
            message: kind.exemplar.message,
            stack: kind.exemplar.stack,
          },
        }));
    },
  };
}
