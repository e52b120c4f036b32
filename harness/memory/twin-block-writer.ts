// The twin's worker side: the rules of native/src/writer.h in plain JavaScript, so that tests can compare the two and small things can
// run without a compiler. One process, no atomics.
import type { CheckLevel } from '../contract/check-level.js';
import { type TypedArray, viewOf } from '../contract/dtype.js';
import { ABANDONED, DONE, FINAL, QUARANTINED } from '../contract/frame-flags.js';
import { cellViews } from './cell-views.js';
import type { BlockWriter, FrameBreach } from './interface.js';
import { keyBounds } from './key-bounds.js';
import { fencedError } from './native-errors.js';
import { COMMAND, cellIndex, cellOf, isRetired, type TwinBlock } from './twin-block.js';

type State = 'inactive' | 'waiting' | 'stepping' | 'resetting' | 'refused' | 'parked' | 'retiring' | 'retired';

export function twinBlockWriter(block: TwinBlock, worker: number, epoch: number, nowNs: () => number, ringFrames: () => void): BlockWriter {
  const { spec } = block;
  const { slots } = spec;
  const state: State[] = [];
  const ownSeq = new Float64Array(slots);
  const ownEpoch = new Uint32Array(slots);
  const lastFlags = new Uint8Array(slots);
  const fresh = new Uint8Array(slots).fill(1);
  const abandoned = new Uint8Array(slots);
  const deferred = new Uint8Array(slots);
  const bounds = spec.keys.map(keyBounds);
  const range = {
    obs: Object.fromEntries(
      spec.keys.map((key, i) => [key.key, viewOf(key.dtype, block.planes[i] as ArrayBuffer, 0, slots * spec.cells * key.elements)]),
    ),
    elements: Object.fromEntries(spec.keys.map((key) => [key.key, key.elements])),
    cell: new Uint32Array(slots),
    action: block.action,
    actionStride: spec.action.length,
    reward: new Float64Array(slots),
    flags: new Uint8Array(slots),
  };
  const runs = new Int32Array(2 * slots);
  const resets = new Int32Array(slots);
  let claimed: number[] = [];
  let breaches: FrameBreach[] = [];
  let runCount = 0;
  let resetCount = 0;
  let cursor = 0;

  for (let slot = 0; slot < slots; slot++) {
    ownSeq[slot] = block.seq[slot] as number;
    ownEpoch[slot] = block.epoch[slot] as number;
    abandoned[slot] = (ownSeq[slot] as number) > 0 ? 1 : 0;
    state[slot] = isRetired(block, slot) ? 'retired' : 'inactive';
    if ((ownEpoch[slot] as number) > epoch) throw fencedError(worker, spec.id, epoch);
  }

  const startOver = (slot: number) => {
    state[slot] = 'waiting';
    fresh[slot] = 1;
    abandoned[slot] = (ownSeq[slot] as number) > 0 ? 1 : 0;
    deferred[slot] = 0;
  };
  const leased = (slot: number) => block.answered[slot] === ownSeq[slot];
  const store = (slot: number, reward: number, flags: number, stampNs: number) => {
    if (block.epoch[slot] !== ownEpoch[slot] || block.seq[slot] !== ownSeq[slot]) throw fencedError(worker, spec.id, epoch);
    const seq = (ownSeq[slot] as number) + 1;
    const cell = cellIndex(spec, slot, seq);
    block.reward[cell] = reward;
    block.flags[cell] = flags;
    block.publishNs[slot] = stampNs;
    block.epoch[slot] = ownEpoch[slot] = epoch;
    block.seq[slot] = ownSeq[slot] = seq;
    lastFlags[slot] = flags;
    fresh[slot] = 0;
  };
  const retire = (slot: number) => {
    const cell = cellIndex(spec, slot, (ownSeq[slot] as number) + 1);
    for (const key of spec.keys.keys()) cellOf(spec, block.planes, key, cell).fill(0);
    store(slot, 0, ABANDONED | QUARANTINED, nowNs());
    state[slot] = 'retired';
  };
  const needsReset = (slot: number) =>
    fresh[slot] === 1 ||
    block.command[slot] === COMMAND.reset ||
    (spec.autoreset === 'next-step' && ((lastFlags[slot] as number) & DONE) !== 0);
  const breachOf = (slot: number, check: CheckLevel): FrameBreach | undefined => {
    const reward = range.reward[slot] as number;
    if (!Number.isFinite(reward)) return { slot, key: 'reward', element: 0, value: reward, rule: 'finite' };
    if (check === 'off' || (check === 'sampled' && ((ownSeq[slot] as number) + slot) % 64 !== 0)) return undefined;
    const planes = ((range.flags[slot] as number) & FINAL) !== 0 && block.finals.length > 0 ? [block.planes, block.finals] : [block.planes];
    for (const [i, key] of spec.keys.entries()) {
      const bound = bounds[i] as (typeof bounds)[number];
      if (!bound.needed) continue;
      for (const buffers of planes) {
        const found = firstBreach(cellOf(spec, buffers, i, range.cell[slot] as number), bound.low, bound.high);
        if (found) return { slot, key: key.key, ...found };
      }
    }
    return undefined;
  };

  let held = false;
  // One sweep over the slots from the cursor on. `idle`: deferred slots count as due.
  const claimPass = (limit: number, idle: boolean): number => {
    claimed = [];
    held = false;
    runCount = resetCount = 0;
    let slot = cursor;
    let runEnd = -1;
    let retired = 0;
    for (let visited = 0; visited < slots && claimed.length < limit; visited++) {
      if (state[slot] === 'retiring' && leased(slot)) {
        retire(slot);
        retired++;
      } else if (state[slot] === 'waiting' && leased(slot) && !idle && (deferred[slot] as number) > 0) {
        deferred[slot] = (deferred[slot] as number) - 1;
        held = true;
      } else if (state[slot] === 'waiting' && leased(slot)) {
        deferred[slot] = 0;
        range.cell[slot] = cellIndex(spec, slot, (ownSeq[slot] as number) + 1);
        range.reward[slot] = 0;
        range.flags[slot] = 0;
        claimed.push(slot);
        if (needsReset(slot)) {
          state[slot] = 'resetting';
          resets[resetCount++] = slot;
        } else {
          state[slot] = 'stepping';
          if (slot === runEnd) {
            runs[2 * runCount - 1] = (runs[2 * runCount - 1] as number) + 1;
          } else {
            runs[2 * runCount] = slot;
            runs[2 * runCount + 1] = 1;
            runCount++;
          }
          runEnd = slot + 1;
        }
      }
      if (++slot === slots) {
        slot = 0;
        runEnd = -1;
      }
    }
    cursor = slot;
    if (retired > 0) ringFrames();
    return claimed.length;
  };

  return {
    spec,
    range,
    views: cellViews(spec, block.planes),
    activate(slot) {
      if (state[slot] === 'inactive') state[slot] = 'waiting';
    },
    claim(limit) {
      const count = claimPass(limit, false);
      return count === 0 && held ? claimPass(1, true) : count;
    },
    defer(slot, rounds) {
      deferred[slot] = rounds;
    },
    runs,
    get runCount() {
      return runCount;
    },
    resets,
    get resetCount() {
      return resetCount;
    },
    wasAbandoned: (slot) => fresh[slot] === 1 && abandoned[slot] === 1,
    keepFinal(slot) {
      if (block.finals.length === 0) return;
      const cell = range.cell[slot] as number;
      for (const key of spec.keys.keys()) copyCell(cellOf(spec, block.planes, key, cell), cellOf(spec, block.finals, key, cell));
    },
    publish(check) {
      breaches = [];
      const stampNs = nowNs();
      let published = 0;
      for (const slot of claimed) {
        if (state[slot] !== 'stepping' && state[slot] !== 'resetting') continue;
        const breach = breachOf(slot, check);
        if (breach) {
          state[slot] = 'refused';
          breaches.push(breach);
          continue;
        }
        store(slot, range.reward[slot] as number, range.flags[slot] as number, stampNs);
        state[slot] = 'waiting';
        published++;
      }
      claimed = [];
      if (published > 0) ringFrames();
      return published;
    },
    get breaches() {
      return breaches;
    },
    park(slot) {
      if (state[slot] !== 'retired' && state[slot] !== 'retiring') state[slot] = 'parked';
    },
    unpark(slot) {
      if (state[slot] === 'parked') startOver(slot);
    },
    release(slot) {
      if (state[slot] === 'retired' || state[slot] === 'retiring') startOver(slot);
    },
    quarantine(slot) {
      const now = state[slot];
      if (now === 'retired' || now === 'retiring') return;
      if (now === 'stepping' || now === 'resetting' || now === 'refused' || leased(slot)) {
        retire(slot);
        ringFrames();
      } else {
        state[slot] = 'retiring';
      }
    },
  };
}

function firstBreach(cell: TypedArray, low: Float64Array, high: Float64Array): Pick<FrameBreach, 'element' | 'value' | 'rule'> | undefined {
  const round = cell instanceof Float32Array ? Math.fround : (x: number) => x;
  for (let i = 0; i < cell.length; i++) {
    const value = cell[i] as number;
    if (!Number.isFinite(value)) return { element: i, value, rule: 'finite' };
    if (value < round(low[low.length === 1 ? 0 : i] as number) || value > round(high[high.length === 1 ? 0 : i] as number)) {
      return { element: i, value, rule: 'bounds' };
    }
  }
  return undefined;
}

/** Copies `from` into `to`; both have the dtype and length of one key. */
export function copyCell(from: TypedArray, to: TypedArray): void {
  to.set(from as Float64Array);
}
