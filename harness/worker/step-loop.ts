// The worker's loop: claim, step, publish, block after block, without a message in between. Chunks are sized by time, so that first
// frames leave early and a slow kind does not hold the others; the event loop gets a turn every few milliseconds, so that commands are
// heard. Progress words are all it says about itself.
import type { CheckLevel } from '../contract/check-level.js';
import { publishClaimed, stepClaimed } from '../envs/step-claimed.js';
import type { Segment } from '../memory/interface.js';
import { PROGRESS_WORD } from '../memory/progress-line.js';
import type { EnvTable, WorkerBlock } from './env-table.js';

/** One claim-step-publish of a block aims at this: the reader's bell rings about once a millisecond, a publish costs microseconds. */
const CHUNK_MS = 1;
/** The event loop's turn comes this often; it costs about 2 us. While constructors wait for theirs, more often. */
const TURN_MS = 3;
const BUILDING_TURN_MS = 1;
/** Longest sleep without work: bounds how late a command or a missed bell is noticed. */
const IDLE_WAIT_MS = 20;
const BUILDING_WAIT_MS = 1;
/** A turn shorter than this held no constructor: nothing is lost by sleeping. */
const EMPTY_TURN_MS = 0.5;

export interface StepLoopOptions {
  readonly table: EnvTable;
  readonly segment: Segment;
  readonly progress: Int32Array;
  readonly check: CheckLevel;
  readonly stopped: () => boolean;
  /** Something waits for turns of the event loop (constructors, closes). */
  readonly busy: () => boolean;
  /** Called after every turn of the event loop; the turn before was `gapMs` earlier. */
  readonly onTurn: (nowMs: number, gapMs: number) => void;
}

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

/** Moves the chunk towards CHUNK_MS: at most doubled, at most cut to what would have fit. */
export function nextChunk(chunk: number, claimed: number, elapsedMs: number, slots: number): number {
  if (claimed < chunk && elapsedMs <= CHUNK_MS) return Math.min(chunk, slots);
  const fitting = Math.floor((claimed * CHUNK_MS) / Math.max(elapsedMs, 1e-3));
  return Math.max(1, Math.min(fitting, chunk * 2, slots));
}

/** Runs until `stopped()`; resolves with the frames published. Throws what publish throws (`worker-died` with detail.fenced). */
export async function runStepLoop(options: StepLoopOptions): Promise<number> {
  const { table, segment, progress, check, stopped, busy, onTurn } = options;
  let frames = 0;
  let nowMs = performance.now();
  let turnedMs = nowMs;

  function stepBlock(block: WorkerBlock): number {
    const claimed = block.writer.claim(block.chunk);
    if (claimed === 0) return 0;
    const beganMs = nowMs;
    stepClaimed(block.table);
    frames += publishClaimed(block.table, check);
    progress[PROGRESS_WORD.framesLow] = frames | 0;
    progress[PROGRESS_WORD.framesHigh] = Math.floor(frames / 2 ** 32);
    nowMs = performance.now();
    block.chunk = nextChunk(block.chunk, claimed, nowMs - beganMs, block.writer.spec.slots);
    return claimed;
  }

  async function takeTurn(): Promise<number> {
    const beganMs = nowMs;
    await turn();
    nowMs = performance.now();
    const gapMs = nowMs - turnedMs;
    turnedMs = nowMs;
    onTurn(nowMs, gapMs);
    nowMs = performance.now();
    return nowMs - beganMs;
  }

  while (!stopped()) {
    const building = busy();
    const turnMs = building ? BUILDING_TURN_MS : TURN_MS;
    let claimed = 0;
    progress[PROGRESS_WORD.loops] = ((progress[PROGRESS_WORD.loops] ?? 0) + 1) | 0;
    for (let b = 0; b < table.blocks.length; b++) {
      const block = table.blocks[b];
      if (block === undefined) continue;
      claimed += stepBlock(block);
      if (nowMs - turnedMs >= turnMs) {
        await takeTurn();
        if (stopped()) return frames;
      }
    }
    if (claimed > 0) continue;
    // Nothing is due. Constructors go first; if none used its turn either, sleep until the reader answers.
    if (building && (await takeTurn()) >= EMPTY_TURN_MS) continue;
    segment.waitWork(building ? BUILDING_WAIT_MS : IDLE_WAIT_MS);
    nowMs = performance.now();
    if (nowMs - turnedMs >= turnMs) await takeTurn();
  }
  return frames;
}
