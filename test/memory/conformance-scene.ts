// One worker, one block, one reader over any Memory, and the few moves that the conformance tests repeat. No timing, no waiting.
import { FIRST } from '../../harness/contract/frame-flags.js';
import type { Control } from '../../harness/memory/control.js';
import type { BatchReader, BlockSpec, BlockWriter, Memory, Segment } from '../../harness/memory/interface.js';
import type { OutputSpec } from '../../harness/memory/reader-options.js';

export interface Scene {
  readonly memory: Memory;
  readonly spec: BlockSpec;
  readonly segment: Segment;
  readonly control: Control;
  readonly reader: BatchReader;
  writer: BlockWriter;
}

export interface SceneOptions extends Partial<BlockSpec> {
  readonly batchLimit?: number;
  readonly outputs?: readonly OutputSpec[];
  readonly threads?: number;
  readonly stepPeriodMs?: number;
}

let worker = 0;

export function openScene(memory: Memory, options: SceneOptions = {}): Scene {
  const { batchLimit, outputs, threads, stepPeriodMs, ...block } = options;
  const spec: BlockSpec = {
    id: 3,
    kind: 'probe',
    firstEnvId: 100,
    slots: 10,
    cells: 2,
    keys: [{ key: 'vector', dtype: 'f32', elements: 4, shape: [4], low: -1e9, high: 1e9 }],
    action: { dtype: 'i32', length: 1 },
    autoreset: 'next-step',
    ...block,
  };
  const control = memory.createControl(1);
  memory.bindControl(control);
  const segment = memory.createSegment({ runId: 'conformance', worker: worker++, blocks: [spec] });
  segment.allocate(spec.id, 1);
  const reader = memory.reader(
    {
      batchLimit: batchLimit ?? spec.slots,
      outputs: outputs ?? [{ name: 'x', parts: [{ key: 'vector', transform: 'float', scale: 1, offset: 0 }] }],
      threads: threads ?? 1,
      stepPeriodMs: stepPeriodMs ?? 0,
    },
    control,
  );
  reader.add(segment, spec.id);
  const writer = segment.writer(spec.id, 0);
  for (let slot = 0; slot < spec.slots; slot++) writer.activate(slot);
  return { memory, spec, segment, control, reader, writer };
}

export interface Claimed {
  readonly steps: number[];
  readonly resets: number[];
}

/** Claims and lists the slots. */
export function claim(scene: Scene, limit = Number.MAX_SAFE_INTEGER): Claimed {
  const { writer } = scene;
  const count = writer.claim(Math.min(limit, 2 ** 31 - 1));
  const steps: number[] = [];
  for (let i = 0; i < writer.runCount; i++) {
    const first = writer.runs[2 * i] as number;
    for (let k = 0; k < (writer.runs[2 * i + 1] as number); k++) steps.push(first + k);
  }
  const resets = [...writer.resets.slice(0, writer.resetCount)];
  if (count !== steps.length + resets.length) throw new Error(`claim said ${count}, lists hold ${steps.length} + ${resets.length}`);
  return { steps, resets };
}

/** Fills the claimed cell of `slot` in every key with `value`. */
export function fill(scene: Scene, slot: number, value: number): void {
  const { range } = scene.writer;
  for (const [key, plane] of Object.entries(range.obs)) {
    const elements = range.elements[key] as number;
    const start = (range.cell[slot] as number) * elements;
    plane.fill(value, start, start + elements);
  }
}

/** What the next frame of each slot says: observation value, reward and flags. */
export type Script = (slot: number, kind: 'step' | 'reset') => { value?: number; reward?: number; flags?: number };

/** Claims, writes by `script` (resets get FIRST) and publishes with full checks. */
export function round(scene: Scene, script: Script = () => ({}), limit?: number): Claimed {
  const claimed = claim(scene, limit);
  const { range } = scene.writer;
  for (const kind of ['step', 'reset'] as const) {
    for (const slot of kind === 'step' ? claimed.steps : claimed.resets) {
      const said = script(slot, kind);
      fill(scene, slot, said.value ?? 0);
      range.reward[slot] = said.reward ?? 0;
      range.flags[slot] = (said.flags ?? 0) | (kind === 'reset' ? FIRST : 0);
    }
  }
  scene.writer.publish('full');
  return claimed;
}

export interface Frame {
  readonly row: number;
  readonly reward: number;
  readonly flags: number;
  /** First element of output `x`. */
  readonly value: number;
}

/** Collects one batch as objects. */
export function collect(scene: Scene, limit = scene.spec.slots): Frame[] {
  const { reader } = scene;
  const n = reader.collect(limit);
  const matrix = reader.outputs.x;
  const columns = matrix ? matrix.length / reader.reward.length : 0;
  return Array.from({ length: n }, (_, i) => ({
    row: reader.rowOf[i] as number,
    reward: reader.reward[i] as number,
    flags: reader.flags[i] as number,
    value: matrix?.[i * columns] as number,
  }));
}

/** Answers rows with action = `action(row)`. */
export function act(scene: Scene, rows: readonly number[], action: (row: number) => number = () => 0): void {
  const { length, dtype } = scene.spec.action;
  const numbers = rows.flatMap((row) => new Array<number>(length).fill(action(row)));
  scene.reader.act(rows.length, Int32Array.from(rows), dtype === 'i32' ? Int32Array.from(numbers) : Float32Array.from(numbers));
}

/** One round of everything: publish, collect, answer. */
export function cycle(scene: Scene, script?: Script, action?: (row: number) => number): Frame[] {
  round(scene, script);
  const frames = collect(scene);
  act(
    scene,
    frames.map((f) => f.row),
    action,
  );
  return frames;
}
