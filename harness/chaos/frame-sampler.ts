// Reads the control words of every env of a rig a few times a second: frames published and epochs, with the time. Rates before, during and
// after a fault are made of it, and an epoch that falls is noticed. Bounded: the newest samples of some minutes.
import type { Segment, SlotWords } from '../memory/interface.js';
import { monotonicMs } from '../supervisor/clock.js';

const EVERY_MS = 50;
/** Ten minutes. */
const KEPT = 12_000;

export interface FrameSample {
  readonly ms: number;
  /** By env id. */
  readonly seq: Float64Array;
}

export interface FrameSampler {
  /** The words as they are now. Arrays are reused by the next call. */
  look(): SlotWords;
  readonly samples: readonly FrameSample[];
  /** Sentences: an epoch or a sequence number that fell. */
  readonly falls: readonly string[];
  /** Frames per second of the given envs between two moments; NaN when there are no two samples. Per env in `each`. */
  rate(envs: readonly number[], fromMs: number, toMs: number): { sum: number; each: number[] };
  end(): void;
}

/** `segments`: by seat, those in use; replaced ones drop out by themselves. */
export function createFrameSampler(segments: ReadonlyMap<number, Segment>, envs: number): FrameSampler {
  const words: SlotWords = {
    seq: new Float64Array(envs),
    epoch: new Uint32Array(envs),
    owed: new Uint8Array(envs),
    retired: new Uint8Array(envs),
  };
  const lastEpoch = new Uint32Array(envs);
  const lastSeq = new Float64Array(envs);
  const samples: FrameSample[] = [];
  const falls: string[] = [];
  let ended = false;

  function look(): SlotWords {
    if (ended) return words;
    for (const segment of segments.values()) {
      for (const { id, firstEnvId } of segment.spec.blocks) segment.slotWords(id, words, firstEnvId);
    }
    for (let env = 0; env < envs; env++) {
      const epoch = words.epoch[env] as number;
      const seq = words.seq[env] as number;
      if (falls.length < 10 && epoch < (lastEpoch[env] as number)) falls.push(`env ${env}: epoch ${lastEpoch[env]} -> ${epoch}`);
      if (falls.length < 10 && seq < (lastSeq[env] as number)) falls.push(`env ${env}: frame ${lastSeq[env]} -> ${seq}`);
      lastEpoch[env] = epoch;
      lastSeq[env] = seq;
    }
    return words;
  }
  const timer = setInterval(() => {
    samples.push({ ms: monotonicMs(), seq: look().seq.slice() });
    if (samples.length > KEPT) samples.splice(0, KEPT / 2);
  }, EVERY_MS);

  return {
    look,
    samples,
    falls,
    rate(ids, fromMs, toMs) {
      const inside = samples.filter(({ ms }) => ms >= fromMs && ms <= toMs);
      const first = inside[0];
      const last = inside.at(-1);
      if (first === undefined || last === undefined || last.ms <= first.ms) return { sum: Number.NaN, each: [] };
      const seconds = (last.ms - first.ms) / 1000;
      const each = ids.map((env) => ((last.seq[env] as number) - (first.seq[env] as number)) / seconds);
      return { sum: each.reduce((total, one) => total + one, 0), each };
    },
    end() {
      ended = true;
      clearInterval(timer);
    },
  };
}
