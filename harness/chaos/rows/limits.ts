// Rows 45 and 46: no file descriptor, no process more. At the start that is refused with the numbers; in the middle of a run a worker that
// dies cannot be replaced for a while, and has to be once there is room, without a storm of tries.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monotonicMs } from '../../supervisor/clock.js';
import type { ChaosRow, RowContext, RowOutcome } from '../chaos-row.js';
import { type ChildLadder, startLadder } from '../child-ladder.js';
import type { StoredEvent } from '../invariants/kept-events.js';
import { judgeLadder, ladderRow } from '../ladder-row.js';
import { leftSince, lookAround } from '../leftovers.js';
import { commandProblem } from '../machine-needs.js';
import { until, watchFor } from '../until.js';

const HELD_MS = 5000;
const RECOVER_MS = 30_000;
/** Tries to start a worker anew while none can start: with a wait that doubles from a quarter of a second there are five in 5 s, plus the first. */
const MOST_TRIES = 12;
/** A budget that the tries of a few seconds do not use up: the row is about waiting, not about giving up. */
const PATIENT = { workerBudget: { restarts: 100, perSeconds: 600 }, backoff: { baseSeconds: 0.25, maxSeconds: 5 } };

const pidIn = (event: StoredEvent | undefined): number => Number((JSON.parse(event?.detail ?? '{}') as { pid?: number }).pid);
const ofWorker = (ladder: ChildLadder, worker: number, type: RegExp): StoredEvent[] =>
  ladder.events().filter((event) => event.worker === worker && type.test(event.type));

interface Squeeze {
  readonly context: RowContext;
  readonly ladder: ChildLadder;
  /** From here on the run can have no more of it. */
  readonly tighten: () => void;
  readonly loosen: () => void;
}

/** Kills worker 0 while nothing can be started, and looks at what comes of it. */
async function squeeze({ context, ladder, tighten, loosen }: Squeeze): Promise<Omit<RowOutcome, 'findings'>> {
  const problems: string[] = [];
  const began = ofWorker(ladder, 0, /^worker-started$/)[0];
  tighten();
  process.kill(pidIn(began), 'SIGKILL');
  const atMs = monotonicMs();
  const died = await until(() => ofWorker(ladder, 0, /^worker-died$/).length > 0, 10_000 * context.patience);
  const detectMs = died ? monotonicMs() - atMs : null;
  if (!died) problems.push('the death of worker 0 was not told');
  await watchFor(HELD_MS);
  const tries = ofWorker(ladder, 0, /^worker-died$/).length;
  if (tries > MOST_TRIES) problems.push(`${tries} tries in ${HELD_MS / 1000} s: a storm`);
  if (ladder.ended !== null) problems.push(`the run ended with ${ladder.ended.code}: ${ladder.stderr().slice(-300)}`);
  if (ofWorker(ladder, 0, /^worker-recovered$/).length > 0) problems.push('the limit was not felt: a new worker could start');
  loosen();
  const looseMs = monotonicMs();
  const recovered = await until(
    () => ofWorker(ladder, 0, /^worker-recovered$/).length > 0 || ladder.ended !== null,
    60_000 * context.patience,
  );
  const recoverMs = recovered && ladder.ended === null ? monotonicMs() - looseMs : null;
  if (recoverMs === null) problems.push('worker 0 did not come back');
  else if (recoverMs > RECOVER_MS * context.patience) problems.push(`worker 0 came back only after ${Math.round(recoverMs)} ms`);
  const others = ladder.events().filter(({ type, worker }) => /-died$/.test(type) && worker !== 0);
  if (others.length > 0) problems.push(`others died too: ${others[0]?.message}`);
  if (ladder.events().some(({ type }) => type === 'range-lost')) problems.push('the range of worker 0 was given up');
  const causes = [...new Set(ofWorker(ladder, 0, /^worker-died$/).map(({ message }) => message))];
  return { detectMs, recoverMs, problems, notes: [`${tries} deaths told while nothing could start`, ...causes.slice(0, 3)] };
}

/** Too few for a run, enough for the program to load. */
const FEW_DESCRIPTORS = 256;

function openFds(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function limitDescriptors(pid: number, value: number): void {
  // The soft limit is what open(2) meets; the hard one stays, so that it can be given back.
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--nofile=${value}:`], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`prlimit: ${stderr}`);
}

function softLimit(pid: number): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1]);
}

export const noDescriptors: ChaosRow = ladderRow({
  row: 45,
  fault: 'no file descriptor left: at the start, and when a worker has to be replaced',
  outcome: 'the start is refused with the numbers and leaves nothing; the worker comes back within 30 s of there being some',
  recoverLimitMs: RECOVER_MS,
  needs: () => commandProblem('prlimit', ['--version']),
  async act(context) {
    const before = lookAround();
    const refused = startLadder(context, { through: ['prlimit', `--nofile=${FEW_DESCRIPTORS}:${FEW_DESCRIPTORS}`] });
    const { code } = await refused.exit;
    const problems: string[] = [];
    if (code !== 3 || !/file descriptors: needed \d+, found \d+/.test(refused.stderr()))
      problems.push(`with ${FEW_DESCRIPTORS} descriptors it ended with ${code}: ${refused.stderr().slice(-300)}`);
    if (existsSync(refused.dir)) problems.push('the refused start left a folder');
    problems.push(...leftSince(before, 'unknown'));

    const ladder = startLadder(context, { plan: { health: PATIENT } });
    if (!(await ladder.live())) throw new Error(`the ladder did not come up: ${ladder.stderr().slice(-500)}`);
    const acknowledged = ladder.events();
    const usual = softLimit(ladder.pid);
    const outcome = await squeeze({
      context,
      ladder,
      tighten: () => limitDescriptors(ladder.pid, openFds(ladder.pid) - 8),
      loosen: () => limitDescriptors(ladder.pid, usual),
    });
    ladder.kill('SIGTERM');
    await ladder.exit;
    return {
      ...outcome,
      problems: [...problems, ...outcome.problems],
      findings: await judgeLadder(before, ladder, acknowledged, 3000 * context.patience),
    };
  },
});

/** Where a group with a bound on processes can be made: cgroup v1's own hierarchy, or v2 with the controller switched on. */
const PIDS_V1 = '/sys/fs/cgroup/pids';
const V2 = '/sys/fs/cgroup';

function pidsParent(): { readonly folder: string } | { readonly problem: string } {
  const v2 = join(V2, 'cgroup.subtree_control');
  const folder = existsSync(v2) ? (readFileSync(v2, 'utf8').includes('pids') ? V2 : null) : existsSync(PIDS_V1) ? PIDS_V1 : null;
  if (folder === null) return { problem: 'no pids controller of cgroups, and ulimit -u does not bind root' };
  const probe = join(folder, `envladder-chaos-probe-${process.pid}`);
  try {
    mkdirSync(probe);
    rmdirSync(probe);
    return { folder };
  } catch (error) {
    return { problem: `no group can be made in ${folder} (${(error as NodeJS.ErrnoException).code}), and ulimit -u does not bind root` };
  }
}

export const noProcesses: ChaosRow = ladderRow({
  row: 46,
  fault: 'no process can be started (pids.max) when a worker has to be replaced',
  outcome: 'the restarts back off, no storm; the worker comes back within 30 s of there being room',
  recoverLimitMs: RECOVER_MS,
  needs: () => {
    const parent = pidsParent();
    return 'problem' in parent ? parent.problem : null;
  },
  async act(context) {
    const parent = pidsParent();
    if ('problem' in parent) return { skipped: parent.problem };
    const before = lookAround();
    const group = join(parent.folder, `envladder-chaos-pids-${process.pid}-${context.seed}`);
    mkdirSync(group);
    try {
      const ladder = startLadder(context, {
        plan: { health: PATIENT },
        through: ['sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh'],
      });
      if (!(await ladder.live())) throw new Error(`the ladder did not come up: ${ladder.stderr().slice(-500)}`);
      const acknowledged = ladder.events();
      const outcome = await squeeze({
        context,
        ladder,
        tighten: () => writeFileSync(join(group, 'pids.max'), '1'),
        loosen: () => writeFileSync(join(group, 'pids.max'), 'max'),
      });
      ladder.kill('SIGTERM');
      await ladder.exit;
      return { ...outcome, findings: await judgeLadder(before, ladder, acknowledged, 3000 * context.patience) };
    } finally {
      writeFileSync(join(group, 'pids.max'), 'max');
      // Empty a moment after the last process of it was reaped.
      await until(() => {
        try {
          rmdirSync(group);
        } catch {
          return !existsSync(group);
        }
        return true;
      }, 5000 * context.patience);
    }
  },
});
