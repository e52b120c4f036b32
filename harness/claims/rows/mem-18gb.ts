// "7,000 environments times two buffers are 18.2 GB": what the shapes of the account need by the planner that lays out every run, as float32 and as
// uint8 pixels, and what a part of it really takes when its pages are there.
import { readFileSync } from 'node:fs';
import { createRigPlan, type RigKind } from '../../bench/rig-plan.js';
import { layoutSegment } from '../../memory/layout.js';
import { createNativeMemory } from '../../memory/native-memory.js';
import { planBlocks } from '../../supervisor/block-plan.js';
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';

const TOLD_ENVS = 7000;
const PIXELS = 224 * 224 * 3;
const FLOATS = 128 + 64;
/** The account's shapes: rgb [224, 224, 3], state [128], vector [64]; as float32 they fill as many bytes as these f64 of a probe. */
const KINDS: Readonly<Record<'float32' | 'uint8', RigKind>> = {
  float32: { kind: 'probe', config: { elements: ((PIXELS + FLOATS) * 4) / 8 } },
  uint8: { kind: 'field' },
};
type FrameType = keyof typeof KINDS;

/** Bytes of all segments of a run of `envs`, headers and control lines included. */
async function plannedBytes(type: FrameType, envs: number): Promise<number> {
  const { plan, entries } = await createRigPlan(envs, KINDS[type]);
  return planBlocks('claims-mem', plan, entries).segments.reduce((sum, { spec }) => sum + layoutSegment(spec).bytes, 0);
}

/** This process's share of the shared memory it maps. */
function sharedPssBytes(): number {
  const kib = /^Pss_Shmem:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))?.[1];
  if (kib === undefined) throw new Error('the kernel does not tell Pss_Shmem');
  return Number(kib) * 1024;
}

/** Bytes with pages behind them for `envs` envs, by the kernel. */
async function residentBytes(type: FrameType, envs: number): Promise<number> {
  const { plan, entries } = await createRigPlan(envs, KINDS[type]);
  const memory = createNativeMemory();
  let resident = 0;
  for (const { spec } of planBlocks(`claims-mem-${process.pid}`, plan, entries).segments) {
    const before = sharedPssBytes();
    const segment = memory.createSegment(spec);
    try {
      for (const block of spec.blocks.keys()) {
        segment.allocate(block, 2);
        // Looking at every page maps it, and only mapped pages count in PSS.
        const { range } = segment.writer(block, 1);
        for (const plane of Object.values(range.obs)) touchPages(plane as ArrayBufferView);
      }
      resident += sharedPssBytes() - before;
    } finally {
      segment.close();
    }
  }
  return resident;
}

function touchPages(plane: ArrayBufferView): void {
  const bytes = new Uint8Array(plane.buffer as ArrayBuffer, plane.byteOffset, plane.byteLength);
  for (let at = 0; at < bytes.length; at += 4096) bytes[at] = 1;
}

async function takeSide(type: FrameType, envs: number): Promise<Taken> {
  return {
    'planned-gb': (await plannedBytes(type, TOLD_ENVS)) / 1e9,
    'resident-gb': ((await residentBytes(type, envs)) / envs) * (TOLD_ENVS / 1e9),
  };
}

async function run(context: ClaimContext): Promise<Measured> {
  const envs = context.pick({ full: 200, quick: 50, tiny: 4 });
  const samples = await context.interleave({ float32: () => takeSide('float32', envs), uint8: () => takeSide('uint8', envs) });
  return {
    samples,
    conditions: {
      shapes: 'rgb [224, 224, 3], state [128], vector [64], two cells each',
      resident: `${envs} envs with all their pages there, by the kernel's Pss_Shmem, times ${TOLD_ENVS} / ${envs}`,
    },
    notes: [
      '7,000 x 2 x (224 x 224 x 3 + 128 + 64) x 4 bytes are 8.44 GB; with pixels as bytes 2.12 GB. The account does not say what the rest of its 18.2 GB is.',
    ],
  };
}

export const mem18gb: Claim = {
  id: 'mem-18gb',
  said: { text: '18.2 GB of shared memory for 7,000 environments with two buffers each', value: 18.2, unit: 'GB' },
  question: "How much shared memory do 7,000 environments of the account's shapes need with two buffers each?",
  register: () => ({
    sides: [
      { name: 'float32', role: 'account', what: 'all three keys as float32, as told' },
      { name: 'uint8', role: 'envladder', what: 'pixels as bytes, state and vector as float32: floats are made while a batch is gathered' },
    ],
    metrics: [
      { id: 'planned-gb', name: 'planned for 7,000', unit: 'GB', better: 'lower', kind: 'count' },
      { id: 'resident-gb', name: 'resident, scaled to 7,000', unit: 'GB', better: 'lower', kind: 'count' },
    ],
    rule: 'held when the planner needs 18.2 GB for the float32 shapes, give or take 10 %',
    rules: [
      { type: 'value', metric: 'planned-gb', side: 'float32', relation: 'at-least', bound: 16.4 },
      { type: 'value', metric: 'planned-gb', side: 'float32', relation: 'at-most', bound: 20 },
    ],
    tests: 'figure',
    method: 'The same planner and the same memory as in a run; nothing is timed. Both sides hold the same observations.',
  }),
  needs: () => {
    try {
      sharedPssBytes();
      return null;
    } catch (error) {
      return `the kernel does not tell this process its shared memory (${error instanceof Error ? error.message : String(error)})`;
    }
  },
  run,
};
