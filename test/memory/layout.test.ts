// The layout as a pure function: nothing overlaps, everything is aligned, and any difference in the spec is a difference in the hash.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DTYPE_BYTES, DTYPES } from '../../harness/contract/dtype.js';
import { AUTORESET_MODES } from '../../harness/contract/frame-flags.js';
import { MAX_CELLS, MAX_PLANE_BYTES } from '../../harness/contract/limits.js';
import type { BlockSpec, KeySpec, SegmentSpec } from '../../harness/memory/interface.js';
import {
  type BlockLayout,
  CELLS_MAX,
  canonicalLayout,
  layoutSegment,
  PAGE_BYTES,
  PLANE_LIMIT_BYTES,
  RECORD_BYTES,
} from '../../harness/memory/layout.js';
import { layoutHash } from '../../harness/memory/layout-hash.js';

const keyArbitrary: fc.Arbitrary<Omit<KeySpec, 'key'>> = fc
  .record({
    dtype: fc.constantFrom(...DTYPES),
    shape: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 3 }),
    bound: fc.double({ min: 0, max: 9, noNaN: true }),
  })
  .map(({ dtype, shape, bound }) => ({ dtype, shape, elements: shape.reduce((a, b) => a * b, 1), low: -bound, high: bound }));

const blockArbitrary: fc.Arbitrary<Omit<BlockSpec, 'id'>> = fc.record({
  kind: fc.constantFrom('cartpole', 'field'),
  firstEnvId: fc.nat(9_000),
  slots: fc.integer({ min: 1, max: 300 }),
  cells: fc.oneof(fc.integer({ min: 2, max: 5 }), fc.integer({ min: 2, max: 256 })),
  keys: fc.array(keyArbitrary, { minLength: 1, maxLength: 4 }).map((keys) => keys.map((key, i) => ({ key: `k${i}`, ...key }))),
  action: fc.record({ dtype: fc.constantFrom('i32' as const, 'f32' as const), length: fc.integer({ min: 1, max: 40 }) }),
  autoreset: fc.constantFrom(...AUTORESET_MODES),
});

const specArbitrary: fc.Arbitrary<SegmentSpec> = fc
  .record({ worker: fc.nat(8), blocks: fc.array(blockArbitrary, { minLength: 1, maxLength: 4 }) })
  .map(({ worker, blocks }) => ({ runId: 'r', worker, blocks: blocks.map((block, id) => ({ id, ...block })) }));

type Range = readonly [name: string, start: number, end: number];

function mappingsOf(layout: BlockLayout): Range[] {
  const ranges: Range[] = [['control', layout.offsetBytes, layout.offsetBytes + layout.controlBytes]];
  for (const plane of layout.planes) {
    ranges.push([plane.key, plane.offsetBytes, plane.offsetBytes + plane.bytes]);
    if (plane.finalOffsetBytes > 0) ranges.push([`${plane.key}.final`, plane.finalOffsetBytes, plane.finalOffsetBytes + plane.bytes]);
  }
  return ranges;
}

/** Every field of the control part, for each slot and cell. */
function controlFieldsOf(spec: BlockSpec, layout: BlockLayout): Range[] {
  const ranges: Range[] = [];
  for (let slot = 0; slot < spec.slots; slot++) {
    const writer = layout.writerOffset + slot * 64;
    const reader = layout.readerOffset + slot * 64;
    ranges.push(['P, publishNs', writer, writer + 16], ['A..command', reader, reader + 28]);
    const action = layout.actionOffset + slot * layout.actionStride;
    ranges.push(['action', action, action + layout.actionBytes]);
    for (let cell = 0; cell < spec.cells; cell++) {
      const record = layout.recordOffset + slot * layout.recordStride + cell * RECORD_BYTES;
      ranges.push(['record', record, record + RECORD_BYTES]);
    }
  }
  return ranges;
}

function assertDisjoint(ranges: readonly Range[], from: number, to: number): void {
  let end = from;
  for (const [name, start, stop] of [...ranges].sort((a, b) => a[1] - b[1])) {
    assert.ok(start >= end, `${name} starts at ${start}, inside what ends at ${end}`);
    end = stop;
  }
  assert.ok(end <= to, `ends at ${end}, behind ${to}`);
}

test('no two parts of a segment overlap and every mapping starts on a page', () => {
  // Goal: for any spec, header, blocks, planes and finals lie apart, inside the object, page by page.
  fc.assert(
    fc.property(specArbitrary, (spec) => {
      const layout = layoutSegment(spec);
      const mappings = layout.blocks.flatMap(mappingsOf);
      for (const [name, start] of mappings) assert.equal(start % PAGE_BYTES, 0, name);
      assertDisjoint([['header', 0, layout.headerBytes], ...mappings], 0, layout.bytes);
      layout.blocks.forEach((block, i) => {
        assert.equal(block.bytes % PAGE_BYTES, 0);
        const next = layout.blocks[i + 1]?.offsetBytes ?? layout.bytes;
        assert.equal(block.offsetBytes + block.bytes, next);
      });
    }),
    { numRuns: 200 },
  );
});

test('control words, records and actions of all slots lie apart and on their own lines', () => {
  // Goal: the address formulas for inline and separate records and actions never collide; what is 8 bytes wide is aligned to 8.
  fc.assert(
    fc.property(specArbitrary, (spec) => {
      const layout = layoutSegment(spec);
      spec.blocks.forEach((block, i) => {
        const own = layout.blocks[i] as BlockLayout;
        assertDisjoint(controlFieldsOf(block, own), 0, own.controlBytes);
        assert.deepEqual([own.recordOffset % 16, own.recordStride % 64, own.actionOffset % 32, own.actionStride % 64], [0, 0, 0, 0]);
        // Worker-written and reader-written words never share a 64-byte line.
        assert.ok(own.readerOffset % 64 === 0 && own.recordOffset % 64 === (block.cells <= 2 ? 16 : 0));
      });
    }),
    { numRuns: 60 },
  );
});

test('planes hold slots x cells x elements and the final planes as much again', () => {
  // Goal: sizes follow from the spec alone.
  fc.assert(
    fc.property(specArbitrary, (spec) => {
      const layout = layoutSegment(spec);
      spec.blocks.forEach((block, i) => {
        block.keys.forEach((key, k) => {
          const plane = layout.blocks[i]?.planes[k];
          assert.equal(plane?.bytes, block.slots * block.cells * key.elements * DTYPE_BYTES[key.dtype]);
          assert.equal((plane?.finalOffsetBytes ?? 0) > 0, block.autoreset === 'same-step');
        });
      });
    }),
    { numRuns: 100 },
  );
});

const base: SegmentSpec = {
  runId: 'r',
  worker: 1,
  blocks: [
    {
      id: 0,
      kind: 'cartpole',
      firstEnvId: 0,
      slots: 8,
      cells: 2,
      keys: [{ key: 'state', dtype: 'f32', elements: 4, shape: [2, 2], low: Number.NEGATIVE_INFINITY, high: [1, 2, 3, 4] }],
      action: { dtype: 'i32', length: 1 },
      autoreset: 'next-step',
    },
  ],
};

/** Copies of `value` with one leaf changed each. */
function withOneLeafChanged(value: unknown, path: string): [string, unknown][] {
  if (Array.isArray(value)) {
    const changed = value.flatMap((item, i) =>
      withOneLeafChanged(item, `${path}[${i}]`).map(([p, v]) => [p, value.with(i, v)] as [string, unknown]),
    );
    return [...changed, [`${path} longer`, [...value, structuredClone(value[0])]]];
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, item]) =>
      withOneLeafChanged(item, `${path}.${key}`).map(([p, v]) => [p, { ...value, [key]: v }] as [string, unknown]),
    );
  }
  const other: Record<string, unknown> = { i32: 'f32', f32: 'i32', 'next-step': 'disabled' };
  if (typeof value === 'string') return [[path, other[value] ?? `${value}2`]];
  return [[path, value === Number.NEGATIVE_INFINITY ? -1 : (value as number) + 1]];
}

test('the layout hash changes with every field of the spec', () => {
  // Goal: two processes that disagree about anything (but the run id, which stands beside the hash) cannot share a segment.
  const hash = (spec: unknown) => Buffer.from(layoutHash(spec as SegmentSpec)).toString('hex');
  const original = hash(base);
  assert.equal(hash(structuredClone(base)), original);
  const seen = new Map([[original, 'the original']]);
  const changes = withOneLeafChanged(base, 'spec').filter(([path]) => !path.startsWith('spec.runId'));
  assert.ok(changes.length >= 18, `${changes.length} changes`);
  for (const [path, changed] of changes) {
    const other = hash(changed);
    assert.equal(seen.get(other), undefined, `${path} hashes like ${seen.get(other)}`);
    seen.set(other, path);
  }
  assert.equal(hash({ ...base, runId: 's' }), original);
  assert.notEqual(canonicalLayout(base).indexOf('-Infinity'), -1);
});

test('what cannot be laid out is refused with the remedy', () => {
  // Goal: a plane above 2 GiB names workers and cells; impossible cells, slots and run ids name their limits.
  const change = (block: Partial<BlockSpec>): SegmentSpec => ({ ...base, blocks: [{ ...(base.blocks[0] as BlockSpec), ...block }] });
  const rgb: KeySpec = { key: 'rgb', dtype: 'u8', elements: 150_528, shape: [224, 224, 3], low: 0, high: 255 };
  const refuses = (spec: SegmentSpec, message: RegExp) => assert.throws(() => layoutSegment(spec), { code: 'bad-plan', message });
  assert.doesNotThrow(() => layoutSegment(change({ keys: [rgb], slots: 7_133 })));
  refuses(change({ keys: [rgb], slots: 7_134 }), /plane 'rgb' needs 2147733504 bytes.*2147483648.*more workers.*fewer cells/);
  refuses(change({ cells: 1 }), /1 cells.*2 to 256/);
  refuses(change({ cells: 257 }), /257 cells/);
  refuses(change({ cells: 2.5 }), /2.5 cells/);
  refuses(change({ slots: 0 }), /0 slots/);
  refuses({ ...base, runId: 'x'.repeat(65) }, /run id/);
  refuses({ ...base, runId: '' }, /run id/);
  assert.deepEqual([CELLS_MAX, PLANE_LIMIT_BYTES], [MAX_CELLS, MAX_PLANE_BYTES]);
});
