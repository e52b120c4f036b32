// Rows 12 and 15 to 17: a slow leak, CPU and scheduling as the kernel grants or refuses them. What needs controllers of cgroup v2 is skipped
// where there are none; the rig's own machine has them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCgroupPlace } from '../../supervisor/cgroup-place.js';
import { monotonicMs } from '../../supervisor/clock.js';
import type { ChaosRow, RowContext, RowOutcome } from '../chaos-row.js';
import { type ChildLadder, startLadder } from '../child-ladder.js';
import { type CrewChaosRow, crewRow } from '../crew-row.js';
import { judgeLadder, ladderRow } from '../ladder-row.js';
import { type Leftovers, lookAround } from '../leftovers.js';
import { commandProblem } from '../machine-needs.js';
import { TRIGGER_MODULE } from '../rig.js';
import { makeTrigger } from '../trigger.js';
import { until, watchFor } from '../until.js';
import { pickWorkers } from '../worker-death.js';
import { rssBytes } from './learner-faults.js';
import { cgroupOf, controllerProblem } from './memory-limits.js';

const SOFT_LIMIT_BYTES = 400_000_000;
/** 4 MB each: 50 MB/s. */
const LEAK_EVERY_MS = 80;
/** Above it a hard limit would have struck. */
const MOST_RSS_BYTES = 2 * SOFT_LIMIT_BYTES;

export const slowLeak: ChaosRow = ladderRow({
  row: 12,
  fault: 'an env leaks 50 MB/s',
  outcome: 'its worker is replaced softly before its memory limit',
  recoverLimitMs: 30_000,
  async act(context) {
    const before = lookAround();
    const trigger = makeTrigger(context, 40);
    const ladder = startLadder(context, {
      plan: { module: TRIGGER_MODULE, mix: { 'trigger-probe': trigger.entry }, health: { softLimitBytes: SOFT_LIMIT_BYTES } },
    });
    let timer: NodeJS.Timeout | undefined;
    try {
      if (!(await ladder.live())) throw new Error(`the ladder did not come up: ${ladder.stderr().slice(-500)}`);
      const first = ladder.events().find(({ type, worker }) => type === 'worker-started' && worker === 0);
      const pid = Number((JSON.parse(first?.detail ?? '{}') as { pid?: number }).pid);
      const atMs = monotonicMs();
      timer = setInterval(() => trigger.pull(0, 'leak'), LEAK_EVERY_MS);
      let most = 0;
      const replaced = () => ladder.events().find(({ type, worker }) => type === 'worker-replaced' && worker === 0);
      const done = await until(async () => {
        most = Math.max(most, rssBytes(pid));
        await watchFor(50);
        return replaced() !== undefined;
      }, 60_000 * context.patience);
      const recoverMs = done ? monotonicMs() - atMs : null;
      clearInterval(timer);
      const problems: string[] = [];
      if (!done) problems.push('it was not replaced within 60 s');
      if (most > MOST_RSS_BYTES) problems.push(`it grew to ${most} bytes, the soft limit is ${SOFT_LIMIT_BYTES}`);
      if (ladder.events().some(({ type }) => type === 'worker-died')) problems.push('a worker died');
      const acknowledged = ladder.events();
      ladder.kill('SIGTERM');
      await ladder.exit;
      return {
        detectMs: recoverMs,
        recoverMs,
        problems,
        findings: await judgeLadder(before, ladder, acknowledged, 3000 * context.patience),
        notes: [`it held ${Math.round(most / 1e6)} MB at most`],
      };
    } finally {
      clearInterval(timer);
      trigger.close();
    }
  },
});

export const throttled: CrewChaosRow = crewRow({
  row: 15,
  fault: 'a worker held to 1 % of a core (cpu.max)',
  outcome: 'called throttled, not hung; nothing is killed',
  recoverLimitMs: 0,
  needs: () => controllerProblem('cpu'),
  async inject(rig) {
    const worker = pickWorkers(rig, 1)[0] as number;
    const folder = cgroupOf(rig, worker);
    const atMs = monotonicMs();
    writeFileSync(join(folder, 'cpu.max'), '1000 100000');
    let called = false;
    await until(() => {
      called ||= rig.crew.health().workers[worker]?.verdict === 'throttled';
      return monotonicMs() - atMs > 5000 * rig.context.patience;
    }, 6000 * rig.context.patience);
    writeFileSync(join(folder, 'cpu.max'), 'max 100000');
    return { atMs, touched: rig.envsOf(worker), undo: () => (called ? [] : ['it was never called throttled']) };
  },
});

/** A run that is refused something ends well, and says so in one `scheduling` event for which `about` holds. */
async function ranAndSaidOnce(
  context: RowContext,
  before: Leftovers,
  ladder: ChildLadder,
  about: (event: ReturnType<ChildLadder['events']>[number]) => boolean,
): Promise<RowOutcome> {
  const up = await ladder.live();
  const { code } = await ladder.exit;
  const problems: string[] = [];
  if (!up || code !== 0) problems.push(`the run ended with ${code}: ${ladder.stderr().slice(-300)}`);
  const told = ladder.events().filter((event) => event.type === 'scheduling' && about(event));
  if (told.length !== 1) problems.push(`${told.length} events about it, not 1`);
  return {
    detectMs: null,
    recoverMs: null,
    problems,
    findings: await judgeLadder(before, ladder, [], 3000 * context.patience),
    notes: told.map(({ message }) => message),
  };
}

/** A cgroup v1, or none, or one without what seats need: then a start says so once and goes on. */
export const cgroupMissing: ChaosRow = ladderRow({
  row: 16,
  fault: 'cgroups missing or read-only',
  outcome: 'the run starts without them and says so once',
  recoverLimitMs: null,
  needs: () => commandProblem('unshare', ['-m', 'true']),
  async act(context) {
    const before = lookAround();
    const place = findCgroupPlace();
    const hide = 'folder' in place ? `mount -t tmpfs -o ro none ${place.folder} && ` : '';
    const ladder = startLadder(context, { plan: { seconds: 2 }, through: ['unshare', '-m', 'sh', '-c', `${hide}exec "$@"`, 'sh'] });
    return ranAndSaidOnce(context, before, ladder, ({ detail }) => (detail ?? '').includes('cgroups'));
  },
});

export const fifoDenied: ChaosRow = ladderRow({
  row: 17,
  fault: 'SCHED_FIFO asked for without the capability',
  outcome: 'the run goes on with weights and says so once',
  recoverLimitMs: null,
  needs: () => commandProblem('setpriv', ['--bounding-set=-sys_nice', '--inh-caps=-sys_nice', 'true']),
  async act(context) {
    const before = lookAround();
    const ladder = startLadder(context, {
      plan: { seconds: 2, scheduling: { fifo: 50 } },
      through: ['prlimit', '--rtprio=0', 'setpriv', '--bounding-set=-sys_nice', '--inh-caps=-sys_nice'],
    });
    return ranAndSaidOnce(context, before, ladder, ({ message }) => /fifo/i.test(message));
  },
});
