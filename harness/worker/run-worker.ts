// One worker's life after its start message: take blocks up, step them until told to stop, close them, say goodbye. Everything it needs
// from outside (memory, channel) is an argument, so that tests run it in their own process on the in-memory twin.
import type { Channel } from '../bus/channel.js';
import { EnvladderError } from '../contract/errors.js';
import type { FromWorker, ToWorker, WorkerStart } from '../contract/messages.js';
import { createRegistry } from '../envs/registry.js';
import { type Memory, OP, type SegmentSpec } from '../memory/interface.js';
import { PROGRESS_WORD } from '../memory/progress-line.js';
import { createEnvTable } from './env-table.js';
import { createFailureReport } from './failure-report.js';
import { runStepLoop } from './step-loop.js';

/** Closing envs is a courtesy to their resources; the supervisor's drain deadline stands behind it. */
const CLOSE_LIMIT_MS = 2000;

export interface WorkerPorts {
  readonly memory: Memory;
  readonly channel: Channel<FromWorker, ToWorker>;
}

function limited(work: Promise<void>, limitMs: number): Promise<void> {
  return new Promise((done, fail) => {
    const timer = setTimeout(done, limitMs);
    work.then(done, fail).finally(() => clearTimeout(timer));
  });
}

/** Runs one worker from its start message to its stop. Rejects with what makes it useless: bad module, fenced, wrong segment. */
export async function runWorker(start: WorkerStart, { memory, channel }: WorkerPorts): Promise<void> {
  let stopped = false;
  const wanted: number[] = [...start.blocks];
  let takeUp = (blocks: readonly number[]): void => void wanted.push(...blocks);
  // Heard from the first moment: commands may come while modules are still loading.
  channel.onMessage((message) => {
    if (message.type === 'stop') stopped = true;
    else if (message.type === 'grow') takeUp(message.blocks);
  });
  const control = memory.attachControl(start.workers, start.controlFd);
  memory.bindControl(control);
  const segment = memory.attachSegment(start.segment as unknown as SegmentSpec, start.segmentFd);
  const progress = control.progressWords(start.worker);
  progress[PROGRESS_WORD.envId] = -1;
  progress[PROGRESS_WORD.op] = OP.idle;
  progress[PROGRESS_WORD.framesLow] = 0;
  progress[PROGRESS_WORD.framesHigh] = 0;
  progress[PROGRESS_WORD.epoch] = start.epoch;
  progress[PROGRESS_WORD.pid] = process.pid;
  const registry = await createRegistry(start.module === null ? [] : [start.module]);
  const report = createFailureReport((failures, alsoFailed) => channel.send({ type: 'env-failures', failures, alsoFailed }));
  const table = createEnvTable({ start, segment, registry, progress, onFailure: report.add });
  let broken: unknown;

  takeUp = (blocks) => {
    for (const block of blocks) {
      table.add(block).then(
        (built) => {
          report.flush();
          channel.send({ type: 'block-built', ...built });
        },
        (error: unknown) => {
          broken = error;
          stopped = true;
        },
      );
    }
  };
  channel.send({ type: 'ready', pid: process.pid });
  takeUp(wanted);
  try {
    const frames = await runStepLoop({
      table,
      segment,
      progress,
      check: start.check,
      stopped: () => stopped,
      onTurn: report.flush,
    });
    if (broken !== undefined)
      throw broken instanceof EnvladderError ? broken : new Error('a block could not be taken up', { cause: broken });
    await limited(table.close(), CLOSE_LIMIT_MS);
    report.flush();
    channel.send({ type: 'stopped', frames });
  } finally {
    segment.close();
    control.close();
  }
}
