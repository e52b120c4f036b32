// What shared memory refuses, and with which words: foreign segments, shortage of memory, missing descriptors, actions that are no numbers.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { ftruncateSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { availableBytes } from '../../harness/memory/available-memory.js';
import type { Memory, SegmentSpec } from '../../harness/memory/interface.js';
import { SEGMENT_HEADER } from '../../harness/memory/layout.js';
import { createNativeMemory } from '../../harness/memory/native-memory.js';
import { createTwinMemory } from '../../harness/memory/twin-memory.js';
import { loadNative } from '../../native/index.js';
import { claim, collect, openScene, round } from './conformance-scene.js';

const spec: SegmentSpec = {
  runId: 'run-1',
  worker: 0,
  blocks: [
    {
      id: 0,
      kind: 'probe',
      firstEnvId: 0,
      slots: 100,
      cells: 2,
      keys: [{ key: 'vector', dtype: 'f32', elements: 64, shape: [64], low: -1, high: 1 }],
      action: { dtype: 'i32', length: 1 },
      autoreset: 'next-step',
    },
  ],
};
const other = (change: object): SegmentSpec => ({ ...spec, blocks: [{ ...(spec.blocks[0] as SegmentSpec['blocks'][0]), ...change }] });

for (const make of [() => createNativeMemory(), () => createTwinMemory()] as (() => Memory)[]) {
  const { name } = make();
  test(`${name}: attaching needs the same layout and the same run`, () => {
    // Goal: a wrong hash, a wrong run id and a wrong size are refused by name; the right spec attaches.
    const memory = make();
    const { fd } = memory.createSegment(spec);
    assert.doesNotThrow(() => memory.attachSegment(structuredClone(spec), fd));
    const refuses = (wrong: SegmentSpec, message: RegExp) =>
      assert.throws(() => memory.attachSegment(wrong, fd), { code: 'bad-segment', message });
    refuses(other({ firstEnvId: 1 }), /hash/);
    refuses(other({ kind: 'noop' }), /hash/);
    refuses({ ...spec, runId: 'run-2' }, /run-1.*run-2/);
  });

  test(`${name}: a control page belongs to one number of lines`, () => {
    // Goal: processes that disagree about the crew do not share a page.
    const memory = make();
    const control = memory.createControl(2);
    assert.equal(memory.attachControl(2, control.fd).progress(1).op, 'idle');
    assert.throws(() => memory.attachControl(3, control.fd), { code: 'bad-segment', message: /3/ });
  });

  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    test(`${name}: an action of ${bad} is refused as the policy's, before any is stored`, () => {
      // Goal: the message names row, element and culprit; no action of the call arrives, no lease is released, the right answer still can.
      const scene = openScene(make(), { slots: 4, action: { dtype: 'f32', length: 3 } });
      round(scene);
      collect(scene);
      const rows = Int32Array.of(0, 3, 2, 1);
      const actions = new Float32Array(12).fill(0.5);
      actions[2 * 3 + 1] = bad;
      assert.throws(() => scene.reader.act(4, rows, actions), {
        code: 'contract',
        message: new RegExp(`row 2, element 1 of 3, is ${bad};.*policy`),
        detail: { row: 2, element: 1, value: String(bad), source: 'policy' },
      });
      assert.deepEqual(claim(scene), { steps: [], resets: [] });
      assert.deepEqual(
        [...scene.writer.range.action].filter((value) => value === 0.5),
        [],
      );
      // Numbers behind the call's own are nobody's action.
      scene.reader.act(2, rows, actions);
      assert.deepEqual(claim(scene).steps, [0, 3]);
    });
  }
}

test('attaching refuses a segment of another size, version, magic, or one that is not ready', () => {
  // Goal: the header is believed word by word.
  const memory = createNativeMemory();
  const { fd } = memory.createSegment(spec);
  assert.throws(() => memory.attachSegment(other({ slots: 1_000 }), fd), {
    code: 'bad-segment',
    message: /holds \d+ bytes, the plan needs \d+/,
  });
  const header = new DataView(new (loadNative().Mapping)(fd, 0, 4096).takeBuffer());
  const damage = (offset: number, message: RegExp) => {
    const before = header.getUint32(offset, true);
    header.setUint32(offset, before + 1, true);
    assert.throws(() => memory.attachSegment(spec, fd), { code: 'bad-segment', message });
    header.setUint32(offset, before, true);
  };
  damage(SEGMENT_HEADER.magic, /magic/);
  damage(SEGMENT_HEADER.layoutVersion, /version/);
  damage(SEGMENT_HEADER.layoutHash, /hash/);
  damage(SEGMENT_HEADER.ready, /ready/);
  assert.doesNotThrow(() => memory.attachSegment(spec, fd));
});

test('damage to a header is noticed by every process that has it open, and named', () => {
  // Goal: each word that was checked at attach is checked again, block states and epoch too; the counts of what is mapped survive it.
  const memory = createNativeMemory();
  const segment = memory.createSegment(spec);
  segment.allocate(0, 1);
  segment.fence(0, 3);
  const attached = memory.attachSegment(spec, segment.fd);
  const writer = attached.writer(0, 3);
  writer.activate(0);
  writer.claim(1);
  writer.publish('off');
  assert.deepEqual([segment.damaged(), attached.damaged(), segment.scan(0).published], [null, null, 1]);
  const bytes = new Uint8Array(new (loadNative().Mapping)(segment.fd, 0, 4096).takeBuffer());
  const words: [offset: number, message: RegExp][] = [
    [SEGMENT_HEADER.ready, /^the ready word is 254, expected 1$/],
    [SEGMENT_HEADER.magic + 7, /magic number/],
    [SEGMENT_HEADER.layoutVersion, /layout version is 253, expected 2/],
    [SEGMENT_HEADER.layoutHash + 31, /layout hash/],
    [SEGMENT_HEADER.runId + 3, /run id is .*expected run-1/],
    [SEGMENT_HEADER.runId + 63, /run id/],
    [SEGMENT_HEADER.blocks, /number of blocks is 254, expected 1/],
    [SEGMENT_HEADER.worker + 1, /worker is 65280, expected 0/],
    [SEGMENT_HEADER.headerBytes + 2, /header size/],
    [SEGMENT_HEADER.bytes + 6, /segment size/],
    [SEGMENT_HEADER.epoch + 3, /epoch is -\d+, outside/],
    [SEGMENT_HEADER.blockState, /state of block 0 is 254, expected 0 or 1/],
  ];
  for (const [offset, message] of words) {
    const before = bytes[offset] as number;
    bytes[offset] = before ^ 0xff;
    for (const opened of [segment, attached]) {
      assert.match(opened.damaged() ?? 'no damage', message);
      assert.equal(opened.scan(0).published, 1);
    }
    bytes[offset] = before;
    assert.equal(attached.damaged(), null);
  }
  bytes[SEGMENT_HEADER.blockState] = 0;
  assert.match(attached.damaged() ?? '', /state of block 0 is 0, but its pages were taken/);
  assert.deepEqual(attached.scan(0), segment.scan(0));
  // The bells move all the time; they are no damage.
  bytes[SEGMENT_HEADER.blockState] = 1;
  bytes[SEGMENT_HEADER.workBell] = 77;
  assert.equal(segment.damaged(), null);
});

test('a descriptor that was not inherited is refused before anything is mapped', () => {
  // Goal: the message says how the fd should have come.
  const refusal = { code: 'bad-segment', message: /not open.*stdio/ };
  assert.throws(() => createNativeMemory().attachSegment(spec, 9_999), refusal);
  assert.throws(() => createNativeMemory().attachErrors(2, 9_999), refusal);
});

for (const make of [
  (available: () => number) => createNativeMemory({ availableBytes: available }),
  (available: () => number) => createTwinMemory({ availableBytes: available }),
]) {
  test(`${make(() => 0).name}: a block larger than the available memory is refused with both numbers`, () => {
    // Goal: no page is taken, the block stays planned, and a smaller need passes.
    let available = 10_000;
    const memory = make(() => available);
    const segment = memory.createSegment(spec);
    assert.throws(() => segment.allocate(0, 1), { code: 'out-of-memory', message: /\d+ bytes.*needed, 10000 are available/ });
    assert.throws(() => segment.writer(0, 0), { code: 'bad-segment' });
    available = 1e9;
    assert.doesNotThrow(() => segment.allocate(0, 1));
    assert.doesNotThrow(() => segment.writer(0, 0));
  });
}

test('a full file system answers out-of-memory, not SIGBUS', (t) => {
  // Goal: ENOSPC of the kernel reaches the caller with numbers, and the pages taken so far are given back.
  const folder = mkdtempSync(join(tmpdir(), 'envladder-enospc-'));
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder], { encoding: 'utf8' });
  if (mount.status !== 0) {
    rmSync(folder, { recursive: true });
    t.skip(`SKIPPED(no right to mount a small tmpfs: ${(mount.stderr ?? String(mount.error)).trim()})`);
    return;
  }
  try {
    const memory = createNativeMemory({
      createObject: (_name, bytes) => {
        const fd = openSync(join(folder, `object-${bytes}`), 'w+');
        ftruncateSync(fd, bytes);
        return fd;
      },
    });
    const big = memory.createSegment(other({ slots: 2_000 }));
    for (const threads of [1, 3]) {
      assert.throws(() => big.allocate(0, threads), { code: 'out-of-memory', message: /no pages for \d+ bytes.*errno/ });
    }
    const small = memory.createSegment(spec);
    assert.doesNotThrow(() => small.allocate(0, 2));
    big.close();
    small.close();
  } finally {
    spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  }
});

test('available memory is the least of the machine and every cgroup above us', () => {
  // Goal: a limit on a parent group counts, "max" does not, and unreadable files limit nothing.
  const files: Record<string, string> = {
    '/proc/meminfo': 'MemTotal: 100 kB\nMemAvailable:    1000 kB\n',
    '/proc/self/cgroup': '0::/a/b\n',
    '/sys/fs/cgroup/a/b/memory.max': 'max\n',
    '/sys/fs/cgroup/a/b/memory.current': '5\n',
  };
  const read = (path: string) => files[path];
  assert.equal(availableBytes(read), 1_024_000);
  files['/sys/fs/cgroup/a/memory.max'] = '900000\n';
  files['/sys/fs/cgroup/a/memory.current'] = '400000\n';
  assert.equal(availableBytes(read), 500_000);
  files['/sys/fs/cgroup/a/memory.current'] = '950000\n';
  assert.equal(availableBytes(read), 0);
  assert.equal(
    availableBytes(() => undefined),
    Number.POSITIVE_INFINITY,
  );
  assert.ok(availableBytes() > 1e6);
});
