// Rows 47 and 48: what only a machine of one's own can suffer. The wall clock needs a VM; pids can be made scarce in a
// namespace of one's own.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { monotonicMs } from '../../supervisor/clock.js';
import type { ChaosRow } from '../chaos-row.js';
import { type ChildLadder, startLadder } from '../child-ladder.js';
import { judgeLadder, ladderRow } from '../ladder-row.js';
import { isRunning, lookAround } from '../leftovers.js';
import { commandProblem } from '../machine-needs.js';
import { until } from '../until.js';

const HOUR_S = 3600;

/** Sets the wall clock; why not, or null. */
function setClock(epochSeconds: number): string | null {
  const { status, stderr } = spawnSync('date', ['--set', `@${epochSeconds.toFixed(3)}`], { encoding: 'utf8' });
  return status === 0 ? null : `the clock cannot be set: ${stderr.trim()}`;
}

export const clockJumps: ChaosRow = ladderRow({
  row: 47,
  fault: 'the wall clock jumps by an hour, forth and back',
  outcome: 'nothing is killed; events keep their order',
  recoverLimitMs: 0,
  async act(context) {
    if (context.ownMachine !== true)
      return { skipped: 'no namespace has a wall clock of its own: give --own-machine in a VM whose clock may be set' };
    const before = lookAround();
    const realS = Date.now() / 1000;
    const beganMs = monotonicMs();
    const real = (): number => realS + (monotonicMs() - beganMs) / 1000;
    const refused = setClock(real());
    if (refused !== null) return { skipped: refused };
    const ladder = startLadder(context);
    if (!(await ladder.live())) throw new Error(`the ladder did not come up: ${ladder.stderr().slice(-500)}`);
    const problems: string[] = [];
    const acknowledged = ladder.events();
    try {
      for (const jumpS of [HOUR_S, -HOUR_S, 0]) {
        setClock(real() + jumpS);
        const lines = ladder.metricsLines();
        if (!(await until(() => ladder.metricsLines() >= lines + 3, 20_000 * context.patience)))
          problems.push(`no metrics came after a jump to ${jumpS} s`);
      }
    } finally {
      setClock(real());
    }
    const wrong = ladder.events().filter(({ type }) => /-(died|suspect)$|^kills-suspended$/.test(type));
    if (wrong.length > 0) problems.push(`${wrong[0]?.type}: ${wrong[0]?.message}`);
    const times = ladder.events().map(({ run_ms }) => run_ms);
    if (times.some((ms, i) => i > 0 && ms < (times[i - 1] as number)))
      problems.push('the time since the start went back between two events');
    ladder.kill('SIGTERM');
    await ladder.exit;
    return {
      detectMs: null,
      recoverMs: null,
      problems,
      findings: await judgeLadder(before, ladder, acknowledged, 3000 * context.patience),
    };
  },
});

/** Pids of the namespace: enough for a run and its threads, few enough to come round in a second. */
const PID_MAX = 700;
const KILLS = 3;

/** Pid inside its own namespace -> pid out here, of the processes below `root`. */
function outerPids(root: number): Map<number, number> {
  const found = new Map<number, number>();
  const list = spawnSync('ps', ['-e', '-o', 'pid='], { encoding: 'utf8' });
  const namespace = (pid: number): string => spawnSync('readlink', [`/proc/${pid}/ns/pid`], { encoding: 'utf8' }).stdout.trim();
  const wanted = namespace(root);
  for (const pid of list.stdout
    .split('\n')
    .map(Number)
    .filter((each) => each > 0)) {
    try {
      const inner = /^NSpid:\s+.*?(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      if (inner !== undefined && namespace(pid) === wanted) found.set(Number(inner), pid);
    } catch {
      // Gone meanwhile.
    }
  }
  return found;
}

const workerPid = (ladder: ChildLadder): number => {
  const event = ladder.events().findLast(({ type, worker }) => worker === 0 && /-(started|restarted)$/.test(type));
  return Number((JSON.parse(event?.detail ?? '{}') as { pid?: number }).pid);
};

export const pidReuse: ChaosRow = ladderRow({
  row: 48,
  fault: "a dead worker's pid is given to a stranger",
  outcome: 'no signal ever reaches the stranger',
  recoverLimitMs: 0,
  needs: () => commandProblem('unshare', ['-p', '-f', '--mount-proc', 'sh', '-c', `echo ${PID_MAX} > /proc/sys/kernel/pid_max`]),
  async act(context) {
    const before = lookAround();
    const ladder = startLadder(context, {
      through: [
        'unshare',
        '-p',
        '-f',
        '--kill-child',
        '--mount-proc',
        'sh',
        '-c',
        `echo ${PID_MAX} > /proc/sys/kernel/pid_max; exec "$@"`,
        'sh',
      ],
    });
    if (!(await ladder.live())) throw new Error(`the ladder did not come up: ${ladder.stderr().slice(-500)}`);
    const init = [...(await childrenOf(ladder.pid))][0];
    if (init === undefined) throw new Error('the namespace has no first process');
    const problems: string[] = [];
    const strangers: { readonly inner: number; readonly outer: number }[] = [];
    const atMs = monotonicMs();
    for (let kill = 0; kill < KILLS; kill++) {
      const inner = workerPid(ladder);
      const outer = outerPids(init).get(inner);
      if (outer === undefined) throw new Error(`worker 0 (pid ${inner} in its namespace) was not found`);
      const deaths = ladder.events().filter(({ type }) => type === 'worker-died').length;
      process.kill(outer, 'SIGKILL');
      await until(() => ladder.events().filter(({ type }) => type === 'worker-died').length > deaths, 10_000 * context.patience);
      // Forks until the dead worker's number comes round, and keeps that one.
      const loop = `i=0; while [ $i -lt ${PID_MAX * 3} ]; do i=$((i+1)); sleep 300 & p=$!; if [ $p -eq ${inner} ]; then echo got; wait; fi; kill -9 $p; wait $p 2>/dev/null; done`;
      const child = spawn('nsenter', ['-t', String(init), '-p', '-m', 'sh', '-c', loop], { stdio: ['ignore', 'pipe', 'ignore'] });
      let got = false;
      child.stdout.on('data', () => {
        got = true;
      });
      const ended = new Promise<void>((done) => child.once('exit', () => done()));
      await Promise.race([until(() => got, 30_000 * context.patience), ended]);
      const stranger = got ? outerPids(init).get(inner) : undefined;
      if (stranger !== undefined) strangers.push({ inner, outer: stranger });
      await until(() => workerPid(ladder) !== inner, 20_000 * context.patience);
    }
    if (strangers.length === 0) return { skipped: 'no pid came round in time' };
    // The new lives die too, and are replaced, while the strangers hold the old numbers.
    const hit = strangers.filter(({ outer }) => !isRunning(outer));
    if (hit.length > 0)
      problems.push(`${hit.length} of ${strangers.length} strangers were ended: ${hit.map(({ inner }) => inner).join(', ')}`);
    const acknowledged = ladder.events();
    for (const pid of await childrenOf(ladder.pid)) process.kill(pid, 'SIGTERM');
    await until(() => ladder.ended !== null, 20_000 * context.patience);
    ladder.kill('SIGKILL');
    await ladder.exit;
    return {
      detectMs: null,
      recoverMs: null,
      problems,
      findings: await judgeLadder(before, ladder, acknowledged, 5000 * context.patience),
      notes: [`${strangers.length} strangers held pids of dead workers for up to ${Math.round((monotonicMs() - atMs) / 1000)} s`],
    };
  },
});

async function childrenOf(pid: number): Promise<number[]> {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number);
}
