// Rows 20, 21 and 22: a supervisor that is killed, a whole run that is killed, and a second supervisor on the same run folder.
import { monotonicMs } from '../../supervisor/clock.js';
import type { ChaosRow } from '../chaos-row.js';
import { identify, startLadder, stillRunning } from '../child-ladder.js';
import { judgeLadder, ladderRow } from '../ladder-row.js';
import { lookAround } from '../leftovers.js';
import { until } from '../until.js';

const RESUMABLE = { learner: 'ppo', backend: 'wasm', ppo: { horizon: 8, epochs: 1, checkpointSeconds: 1 } } as const;

export const supervisorKilled: ChaosRow = ladderRow({
  row: 20,
  fault: 'supervisor killed',
  outcome: 'its children end with it, nothing starts twice',
  recoverLimitMs: 30_000,
  async act(context) {
    const before = lookAround();
    const ladder = startLadder(context);
    if (!(await ladder.live())) throw new Error(`the ladder did not come up: ${ladder.stderr().slice(-500)}`);
    const children = identify(ladder.children());
    const acknowledged = ladder.events();
    const problems: string[] = [];
    if (children.size < 3) problems.push(`only ${children.size} children were told of`);
    const atMs = monotonicMs();
    ladder.kill('SIGKILL');
    const times = { first: null as number | null };
    const gone = await until(() => {
      const left = stillRunning(children);
      if (left.length < children.size) times.first ??= monotonicMs();
      return left.length === 0;
    }, 30_000 * context.patience);
    const recoverMs = monotonicMs() - atMs;
    if (!gone) problems.push(`children ${stillRunning(children).join(', ')} live on after 30 s`);
    // The next start on the folder says what became of it and starts nothing there.
    const second = startLadder(context, { dir: ladder.dir });
    const { code } = await second.exit;
    if (code === 0 || !/supervisor died|marked failed|in use/.test(second.stderr())) {
      problems.push(`the next start on the folder ended with ${code}: ${second.stderr().slice(-200)}`);
    }
    if (ladder.record()?.run.state !== 'failed') problems.push(`the record says ${ladder.record()?.run.state}, not failed`);
    const findings = await judgeLadder(before, ladder, acknowledged, 3000 * context.patience);
    return { detectMs: times.first === null ? null : times.first - atMs, recoverMs: gone ? recoverMs : null, problems, findings };
  },
});

export const everythingKilled: ChaosRow = ladderRow({
  row: 21,
  fault: 'everything killed: supervisor, learner, workers',
  outcome: 'the next start cleans up and resumes from the newest checkpoint',
  recoverLimitMs: 60_000,
  async act(context) {
    const before = lookAround();
    const ladder = startLadder(context, { plan: RESUMABLE });
    if (!(await ladder.live())) throw new Error(`the ladder did not come up: ${ladder.stderr().slice(-500)}`);
    const saved = await until(() => ladder.events().some(({ type }) => type === 'checkpoint'), 30_000 * context.patience);
    if (!saved) throw new Error('no checkpoint was written within 30 s');
    const children = identify(ladder.children());
    const acknowledged = ladder.events();
    const atMs = monotonicMs();
    ladder.kill('SIGKILL');
    for (const pid of children.keys()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It went with its supervisor.
      }
    }
    await until(() => stillRunning(children).length === 0, 30_000 * context.patience);
    const detectMs = monotonicMs() - atMs;
    const findings = await judgeLadder(before, ladder, acknowledged, 3000 * context.patience);
    const next = startLadder(context, { plan: { ...RESUMABLE, seconds: 2 }, args: ['--resume', ladder.dir] });
    const up = await next.live();
    const recoverMs = up ? monotonicMs() - atMs : null;
    const problems: string[] = [];
    if (!up) problems.push(`the next start did not come up: ${next.stderr().slice(-300)}`);
    const { code } = await next.exit;
    const record = next.record();
    if (up && record?.run.resumed_from == null) problems.push('it did not resume from a checkpoint');
    if (up && record?.verdict !== 'valid')
      problems.push(
        `the resumed run is ${record?.verdict} (exit code ${code}): ${record?.validity.reasons.map(({ message }) => message).join('; ')}`,
      );
    if (ladder.record()?.run.state !== 'failed') problems.push(`the killed run's record says ${ladder.record()?.run.state}, not failed`);
    return { detectMs, recoverMs, problems, findings };
  },
});

export const secondSupervisor: ChaosRow = ladderRow({
  row: 22,
  fault: 'a second supervisor on the same run folder',
  outcome: 'refused; the first is unharmed',
  recoverLimitMs: 0,
  async act(context) {
    const before = lookAround();
    const first = startLadder(context);
    if (!(await first.live())) throw new Error(`the ladder did not come up: ${first.stderr().slice(-500)}`);
    const children = identify(first.children());
    const acknowledged = first.events();
    const lines = first.metricsLines();
    const problems: string[] = [];
    const second = startLadder(context, { dir: first.dir });
    const { code } = await second.exit;
    if (code !== 2) problems.push(`the second ended with ${code}, not 2: ${second.stderr().slice(-200)}`);
    if (!second.stderr().includes(`in use by process ${first.pid}`))
      problems.push(`it does not name the first: ${second.stderr().slice(-200)}`);
    if (!(await until(() => first.metricsLines() >= lines + 2, 15_000 * context.patience)))
      problems.push('the first wrote no more metrics');
    if (first.ended !== null || stillRunning(children).length !== children.size) problems.push('the first lost a process');
    if (first.events().some(({ type }) => type === 'worker-died' || type === 'learner-died')) problems.push('the first saw a death');
    first.kill('SIGTERM');
    const ended = await first.exit;
    if (ended.code !== 130) problems.push(`the first ended with ${ended.code}, not 130`);
    const findings = await judgeLadder(before, first, acknowledged, 3000 * context.patience);
    return { detectMs: null, recoverMs: null, problems, findings };
  },
});
