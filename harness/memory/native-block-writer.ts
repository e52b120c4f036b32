// The worker's face of a block in shared memory: arrays that the addon fills and reads, one addon call per claim and per publish.
import type { NativeAddon } from '../../native/index.js';
import type { CheckLevel } from '../contract/check-level.js';
import { type TypedArray, viewOf } from '../contract/dtype.js';
import { cellViews } from './cell-views.js';
import type { BlockWriter, FrameBreach } from './interface.js';
import { keyBounds } from './key-bounds.js';
import type { MappedBlock } from './mapped-block.js';
import { fencedError } from './native-errors.js';

const CHECK_NUMBER: Readonly<Record<CheckLevel, number>> = { off: 0, sampled: 1, full: 2 };
const BREACH_WORDS = 5;

export function nativeBlockWriter(
  native: NativeAddon,
  mapped: MappedBlock,
  worker: number,
  epoch: number,
  ringFrames: () => void,
): BlockWriter {
  const { spec, layout } = mapped;
  const cell = new Uint32Array(new ArrayBuffer(4 * spec.slots));
  const reward = new Float64Array(new ArrayBuffer(8 * spec.slots));
  const flags = new Uint8Array(new ArrayBuffer(spec.slots));
  const runs = new Int32Array(new ArrayBuffer(8 * spec.slots));
  const resets = new Int32Array(new ArrayBuffer(4 * spec.slots));
  const info = new Int32Array(new ArrayBuffer(16));
  const writer = new native.Writer(mapped.native, epoch, spec.keys.map(keyBounds), [cell, reward, flags, runs, resets, info]);
  if (writer.fenced()) throw fencedError(worker, spec.id, epoch);
  const fenced = () => fencedError(worker, spec.id, epoch);
  let breaches: readonly FrameBreach[] = [];

  const planes: Record<string, TypedArray> = {};
  const elements: Record<string, number> = {};
  spec.keys.forEach((key, i) => {
    planes[key.key] = viewOf(key.dtype, mapped.planes[i] as ArrayBuffer, 0, spec.slots * spec.cells * key.elements);
    elements[key.key] = key.elements;
  });
  // The view starts at slot 0's action and ends with the last slot's: actions stand apart by the stride.
  const actionWords = ((spec.slots - 1) * layout.actionStride + layout.actionBytes) / 4;
  const action = viewOf(spec.action.dtype, mapped.control, layout.actionOffset, actionWords) as Int32Array | Float32Array;

  return {
    spec,
    range: { obs: planes, elements, cell, action, actionStride: layout.actionStride / 4, reward, flags },
    views: cellViews(spec, mapped.planes),
    activate: (slot) => writer.activate(slot),
    claim(limit) {
      const claimed = writer.claim(limit);
      if (claimed < 0) throw fenced();
      if (info[3] !== 0) ringFrames();
      return claimed;
    },
    defer: (slot, rounds) => writer.defer(slot, rounds),
    runs,
    get runCount() {
      return info[0] as number;
    },
    resets,
    get resetCount() {
      return info[1] as number;
    },
    wasAbandoned: (slot) => writer.wasAbandoned(slot),
    keepFinal: (slot) => writer.keepFinal(slot),
    publish(check) {
      const published = writer.publish(CHECK_NUMBER[check]);
      if (published < 0) throw fenced();
      breaches = info[2] === 0 ? [] : readBreaches(writer.breaches(), mapped);
      if (published > 0) ringFrames();
      return published;
    },
    get breaches() {
      return breaches;
    },
    park: (slot) => writer.park(slot),
    unpark: (slot) => writer.unpark(slot),
    release: (slot) => writer.release(slot),
    quarantine(slot) {
      const published = writer.quarantine(slot);
      if (published < 0) throw fenced();
      if (published > 0) ringFrames();
    },
  };
}

function readBreaches(flat: readonly number[], mapped: MappedBlock): FrameBreach[] {
  const list: FrameBreach[] = [];
  for (let at = 0; at + BREACH_WORDS <= flat.length; at += BREACH_WORDS) {
    const [slot = 0, plane = -1, element = 0, value = 0, finite = 0] = flat.slice(at, at + BREACH_WORDS);
    const key = plane < 0 ? 'reward' : (mapped.spec.keys[plane]?.key ?? '?');
    list.push({ slot, key, element, value, rule: finite === 1 ? 'bounds' : 'finite' });
  }
  return list;
}
