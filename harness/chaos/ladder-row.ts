// A row that acts on a whole `envladder ladder` from outside. Ends whatever ladder the row left running, and judges what every such row
// can be judged by: kept events, checkpoints, leaks, the sums of the record.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CTL_SOCKET_NAME } from '../contract/ctl.js';
import { balanceGap } from '../ladder/balance.js';
import type { ChaosRow, Finding, Findings, RowContext, RowOutcome, Skipped } from './chaos-row.js';
import { type ChildLadder, endLadders } from './child-ladder.js';
import { judgeCheckpoint } from './invariants/checkpoint.js';
import { readEvents } from './invariants/kept-events.js';
import { cgroupsOf, type Leftovers, leftSince } from './leftovers.js';
import { until } from './until.js';

export interface LadderRow extends Omit<ChaosRow, 'run'> {
  readonly act: (context: RowContext) => Promise<RowOutcome | Skipped>;
}

export function ladderRow(row: LadderRow): ChaosRow {
  return {
    ...row,
    async run(context) {
      try {
        return await row.act(context);
      } finally {
        await endLadders();
      }
    },
  };
}

/** I3: what was on the disk before is there after, and the file is sound. */
export function judgeLadderEvents(dir: string, before: readonly { readonly message: string }[]): Finding {
  try {
    const { rows, integrity } = readEvents(dir);
    const kept = before.every((event, i) => rows[i]?.message === event.message);
    return {
      ok: integrity === 'ok' && kept,
      evidence: `${before.length} events were acknowledged before, ${rows.length} are there after${kept ? '' : ', others than before'}, integrity ${integrity}`,
    };
  } catch (error) {
    return { ok: false, evidence: `events.sqlite cannot be read: ${(error as Error).message}` };
  }
}

/** I7's second half for a ladder that wrote its record: the sums. */
export function judgeLadderSums(ladder: ChildLadder): Finding {
  const record = ladder.record();
  const balance = record?.balance ?? null;
  if (balance === null) return { ok: null, evidence: 'no balance in the record' };
  const gap = balanceGap(balance);
  return { ok: gap === 0, evidence: gap === 0 ? `${balance.published} published, all accounted for` : `the sums are off by ${gap}` };
}

/** A supervisor that stopped takes its socket file away; one that was killed cannot, but then nobody may be listening there. */
function socketsLeft(ladder: ChildLadder): string[] {
  const path = join(ladder.dir, CTL_SOCKET_NAME);
  const killed = ladder.ended?.signal === 'SIGKILL';
  const there = killed ? readFileSync('/proc/net/unix', 'utf8').includes(path) : existsSync(path);
  return there ? [`socket ${path}`] : [];
}

/** Marks of a ladder's memory and processes, taken while it runs. */
export async function judgeLadderLeaks(before: Leftovers, ladder: ChildLadder, limitMs: number): Promise<Finding> {
  const runId = ladder.record()?.run.id ?? 'unknown';
  let left: string[] = [];
  await until(() => {
    left = leftSince(before, runId);
    left.push(...socketsLeft(ladder));
    return left.length === 0;
  }, limitMs);
  // Those of a killed supervisor are the next start's to clear (row 35).
  if (ladder.ended?.signal !== 'SIGKILL') left.push(...cgroupsOf(runId).map((path) => `cgroup ${path}`));
  return {
    ok: left.length === 0,
    evidence: left.length === 0 ? 'no process, memory object, socket or cgroup of the run is left' : left.join('; '),
  };
}

/** The four that need only the folder and the machine. */
export async function judgeLadder(
  before: Leftovers,
  ladder: ChildLadder,
  acknowledged: readonly { readonly message: string }[],
  limitMs: number,
): Promise<Findings> {
  return {
    I3: judgeLadderEvents(ladder.dir, acknowledged),
    I4: judgeCheckpoint(existsSync(join(ladder.dir, 'checkpoints')) ? join(ladder.dir, 'checkpoints') : null),
    I5: await judgeLadderLeaks(before, ladder, limitMs),
    I7: judgeLadderSums(ladder),
  };
}
