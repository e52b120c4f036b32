// Rows 36 and 37: the disk under the run folder is full for a while, and it is slow for a while. Training has to go on beside both.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MetricsLine } from '../../contract/metrics.js';
import { listCheckpoints } from '../../learner/checkpoint-folder.js';
import { newestCheckpoint } from '../../learner/checkpoint-read.js';
import { monotonicMs } from '../../supervisor/clock.js';
import type { ChaosRow } from '../chaos-row.js';
import { type ChildLadder, startLadder } from '../child-ladder.js';
import { failingIoEnv, failingIoProblem } from '../failing-io.js';
import { judgeLadder, ladderRow } from '../ladder-row.js';
import { lookAround } from '../leftovers.js';
import { mountSmallDisk, smallDiskProblem } from '../small-disk.js';
import { until, watchFor } from '../until.js';

const LEARNING = { learner: 'ppo', backend: 'wasm', ppo: { horizon: 8, epochs: 1, minibatch: 256, checkpointSeconds: 1 } } as const;
/** More than a start asks for. */
const DISK_MEBIBYTES = 128;
const FULL_MS = 20_000;

/** Whole lines of metrics, oldest first. */
function metricsOf(ladder: ChildLadder): MetricsLine[] {
  try {
    const lines = readFileSync(join(ladder.dir, 'metrics.ndjson'), 'utf8').split('\n').slice(0, -1);
    return lines.flatMap((line) => {
      try {
        return [JSON.parse(line) as MetricsLine];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** Agent steps trained per second between two times of the run; null when there are not two lines. */
function trainedRate(lines: readonly MetricsLine[], fromSeconds: number, toSeconds: number): number | null {
  const within = lines.filter(({ t_s }) => t_s >= fromSeconds && t_s <= toSeconds);
  const [first, last] = [within[0], within.at(-1)];
  return first === undefined || last === undefined || first === last ? null : (last.trained - first.trained) / (last.t_s - first.t_s);
}

const checkpointsOf = (ladder: ChildLadder): string => join(ladder.dir, 'checkpoints');
const newestName = (ladder: ChildLadder): string | undefined => listCheckpoints(checkpointsOf(ladder))[0];
const outageEvents = (ladder: ChildLadder, type: 'alarm' | 'alarm-cleared') =>
  ladder.events().filter((event) => event.type === type && (event.detail ?? '').includes('"outage"'));

async function startLearning(ladder: ChildLadder, patience: number): Promise<void> {
  if (!(await ladder.live())) throw new Error(`the ladder did not come up: ${ladder.stderr().slice(-500)}`);
  if (!(await until(() => newestName(ladder) !== undefined && metricsOf(ladder).length > 2, 60_000 * patience)))
    throw new Error('no checkpoint was written within 60 s');
}

/** Row 36, with a disk that is full for `fullMs`. */
export function diskFullFor(fullMs: number): ChaosRow {
  return ladderRow({
    row: 36,
    fault: `the disk of the run folder is full for ${fullMs / 1000} s`,
    outcome: 'training goes on, the last checkpoint is whole, an alarm, and its end once there is room',
    recoverLimitMs: 30_000,
    needs: smallDiskProblem,
    async act(context) {
      const disk = await mountSmallDisk(join(context.dir, 'disk'), DISK_MEBIBYTES);
      // With the disk's own process, which is no leak of the run.
      const before = lookAround();
      try {
        const ladder = startLadder(context, { plan: LEARNING, dir: join(disk.dir, 'run') });
        await startLearning(ladder, context.patience);
        const acknowledged = ladder.events();
        const fullAtMs = monotonicMs();
        const fullAtSeconds = metricsOf(ladder).at(-1)?.t_s ?? 0;
        disk.fill();
        const noticed = await until(() => /cannot be written/.test(ladder.stderr()), 30_000 * context.patience);
        const detectMs = noticed ? monotonicMs() - fullAtMs : null;
        // What is given back meanwhile (a pruned checkpoint, an unfinished one) is taken too.
        while (monotonicMs() - fullAtMs < fullMs && ladder.ended === null) {
          disk.fill();
          await watchFor(200);
        }
        const problems: string[] = noticed ? [] : ['nobody was told that nothing can be written'];
        if (ladder.ended !== null) problems.push(`the run ended with ${ladder.ended.code}: ${ladder.stderr().slice(-300)}`);
        const during = newestName(ladder);
        try {
          newestCheckpoint(checkpointsOf(ladder));
        } catch (error) {
          problems.push(`while the disk was full: ${(error as Error).message}`);
        }
        disk.free();
        const roomAtMs = monotonicMs();
        const back = () => outageEvents(ladder, 'alarm-cleared').length > 0 && newestName(ladder) !== during;
        const recovered = await until(back, 60_000 * context.patience);
        const recoverMs = recovered ? monotonicMs() - roomAtMs : null;
        if (!recovered) problems.push('60 s after there was room the alarm was not cleared, or no checkpoint was written');
        else if (recoverMs !== null && recoverMs > 30_000 * context.patience)
          problems.push(`it took ${Math.round(recoverMs)} ms after there was room`);
        if (outageEvents(ladder, 'alarm').length === 0) problems.push('no alarm in the events');
        const rate = trainedRate(metricsOf(ladder), fullAtSeconds, fullAtSeconds + fullMs / 1000);
        if (!(rate !== null && rate > 0)) problems.push('no step was trained while the disk was full');
        if (ladder.events().some(({ type }) => /-died$/.test(type))) problems.push('a process died of it');
        ladder.kill('SIGTERM');
        const { code } = await ladder.exit;
        const findings = await judgeLadder(before, ladder, acknowledged, 3000 * context.patience);
        const { events } = ladder.record() ?? {};
        if (events === undefined || events.dropped > 0) problems.push(`${events?.dropped} events were dropped`);
        return {
          detectMs,
          recoverMs,
          problems,
          findings,
          notes: [`trained at ${Math.round(rate ?? 0)} steps/s while it was full; the run, stopped later, ended with ${code}`],
        };
      } finally {
        await disk.remove();
      }
    },
  });
}

export const diskFull: ChaosRow = diskFullFor(FULL_MS);

const SLOW_MS = 15_000;
/** What each write and each fsync takes longer. */
const SLEEP_MS = 200;
/** Of the rate before. */
const LEAST_KEPT = 0.7;

/** Row 37, with a disk that is slow for `slowMs`. */
export function diskSlowFor(slowMs: number): ChaosRow {
  return ladderRow({
    row: 37,
    fault: `each write and fsync in the run folder takes ${SLEEP_MS} ms longer, for ${slowMs / 1000} s`,
    outcome: 'the learner is not blocked: frames go on, checkpoints come later',
    recoverLimitMs: 0,
    needs: failingIoProblem,
    async act(context) {
      const before = lookAround();
      const dir = join(context.dir, 'run');
      const hold = join(context.dir, 'slow');
      const fired = join(context.dir, 'fired');
      const env = failingIoEnv({ prefix: dir, at: 1, fault: 'slow', fired, hold, sleepMs: SLEEP_MS });
      const ladder = startLadder(context, { plan: LEARNING, dir, env });
      await startLearning(ladder, context.patience);
      const acknowledged = ladder.events();
      await watchFor(slowMs / 2);
      const slowAtSeconds = ladder.lastMetricsSeconds() ?? 0;
      const seen = newestName(ladder);
      writeFileSync(hold, '');
      await watchFor(slowMs);
      rmSync(hold);
      const slowEndSeconds = slowAtSeconds + slowMs / 1000;
      const problems: string[] = [];
      if (!existsSync(fired)) problems.push('the slow disk was not felt: the library is not in force');
      if (
        !(await until(() => (ladder.lastMetricsSeconds() ?? 0) > slowEndSeconds && newestName(ladder) !== seen, 60_000 * context.patience))
      )
        problems.push('no metrics or no checkpoint came after it');
      const lines = metricsOf(ladder);
      const [calm, slow] = [
        trainedRate(lines, slowAtSeconds - slowMs / 2000, slowAtSeconds),
        trainedRate(lines, slowAtSeconds + 1, slowEndSeconds),
      ];
      const kept = calm === null || slow === null ? 0 : slow / calm;
      if (kept < LEAST_KEPT / context.patience)
        problems.push(`${Math.round(slow ?? 0)} steps/s trained while it was slow, ${Math.round(calm ?? 0)} before`);
      const gap = lines.slice(1).reduce((most, { t_s }, i) => Math.max(most, t_s - (lines[i] as MetricsLine).t_s), 0);
      if (gap > 3 * context.patience) problems.push(`${gap.toFixed(1)} s between two looks of the supervisor: its event loop was held up`);
      if (ladder.events().some(({ type }) => /-died$|-suspect$/.test(type))) problems.push('a process was suspected or died');
      ladder.kill('SIGTERM');
      await ladder.exit;
      return {
        detectMs: null,
        recoverMs: null,
        problems,
        findings: await judgeLadder(before, ladder, acknowledged, 3000 * context.patience),
        notes: [
          `trained at ${Math.round(calm ?? 0)} steps/s before, ${Math.round(slow ?? 0)} while it was slow; longest gap between lines of metrics ${gap.toFixed(1)} s`,
        ],
      };
    },
  });
}

export const diskSlow: ChaosRow = diskSlowFor(SLOW_MS);
