// Goal: errors are counted exactly by kind whatever floods, overwrites and deaths come, and no reader ever sees half a cell.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import type { ErrorRecord } from '../../harness/contract/error-record.js';
import type { ErrorCell } from '../../harness/memory/control.js';
import { CELL_ENV_BITS } from '../../harness/memory/error-cell.js';
import { fingerprintOf, normaliseFrames, normaliseMessage } from '../../harness/memory/error-fingerprint.js';
import { ERROR_CELLS, errorTableBytes, type OpenErrorTables, openErrorTables } from '../../harness/memory/error-tables.js';
import { loadNative } from '../../native/index.js';

const WRITER = fileURLToPath(new URL('./error-writer.ts', import.meta.url));

function record(over: Partial<ErrorRecord> = {}): ErrorRecord {
  return { envId: 3, entry: 'cart', operation: 'step', message: 'Error: boom', stack: 'Error: boom\n    at f (/a/b.js:1:2)', ...over };
}

/** A kind of its own per letter string: digits would be normalised away. */
const kindOf = (n: number) => String.fromCharCode(97 + Math.floor(n / 26), 97 + (n % 26));

function freshTables(lines = 1, nowMs: () => number = clock()): OpenErrorTables & { buffer: ArrayBuffer } {
  const buffer = new ArrayBuffer(errorTableBytes(lines));
  return { ...openErrorTables(buffer, lines, true, nowMs), buffer };
}

function clock(): () => number {
  let now = 0;
  return () => ++now;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0);

test('one fingerprint for what differs only in numbers, quoted names, folders and lines', () => {
  // Goal: the same fault in 7,000 envs on two machines is one kind.
  const here = record({
    message: "RangeError: env 17: value 3.5e-2 of 'pole' at 0xFF00 is not in [0, 1]",
    stack:
      'RangeError: env 17: value\n    at check (/home/ann/run/dist/check.js:10:5)\n    at async file:///srv/x/step.js?t=1:7:1\n    at new Foo (node:internal/a:1:1)',
  });
  const there = record({
    message: "RangeError: env 6999: value -1 of 'cart' at 0x1 is not in [0, 1]",
    stack:
      'RangeError: env 6999: other\n    at check (/opt/check.js:99:1)\n    at async file:///tmp/step.js:70:12\n    at new Foo (node:internal/a:2:9)',
    envId: 6999,
    entry: 'other',
  });
  assert.equal(fingerprintOf(here), fingerprintOf(there));
  assert.match(fingerprintOf(here), /^[0-9a-f]{16}$/);
  assert.notEqual(fingerprintOf(here), fingerprintOf({ ...here, stack: here.stack.replace('check (', 'verify (') }));
  assert.notEqual(fingerprintOf(here), fingerprintOf({ ...here, message: here.message.replace('RangeError', 'TypeError') }));
  assert.notEqual(fingerprintOf(record({ stack: '' })), fingerprintOf(record({ stack: '', operation: 'reset' })));
});

test('frames and messages are normalised as written down', () => {
  // Goal: the rules themselves, V8 and Python.
  assert.deepEqual(
    normaliseFrames(
      '    at a.b [as c] (/x/y z/f.js:1:2)\n    at <anonymous>\n    at eval (eval at g (/q.js:1:1), <anonymous>:1:1)\nnoise\n  File "/usr/lib/env.py", line 7, in step',
    ),
    ['a.b [as c]@f.js', '@<anonymous>', 'eval@q.js), <anonymous>', 'step@env.py'],
  );
  assert.equal(normaliseMessage("can't open '/tmp/run 1/x' at /var/lib/a-1/file.bin: 12.5 MB"), "can't open '…' at file.bin: # MB");
  assert.equal(normaliseMessage('id 3f2504e0-4f89-11d3-9a0c-0305e82c3301 hash 9f86d081884c7d65 deadbeef'), 'id # hash # deadbeef');
});

test('any text gives a fingerprint, soon', () => {
  // Goal: the normaliser has no input that breaks it or makes it slow.
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), fc.string({ unit: 'binary', maxLength: 3000 }), (message, stack) => {
      assert.match(fingerprintOf({ operation: 'step', message, stack }), /^[0-9a-f]{16}$/);
    }),
  );
  for (const part of ["'", '/a', '0', 'a/', '-1e', '    at (', '(((', ' ', '"`\'']) {
    const text = part.repeat(20_000);
    fingerprintOf({ operation: 'step', message: text, stack: text });
  }
});

test('7,000 errors of 12 kinds at once are counted exactly', () => {
  // Goal: a flood loses nothing: every kind has its count, its envs, its first few env ids.
  const tables = freshTables(2);
  for (let envId = 0; envId < 7000; envId++) {
    const kind = envId % 12;
    tables.add(1, record({ envId, message: `Error: ${kindOf(kind)} of env ${envId}` }));
  }
  const { cells, lost, torn } = tables.read(1);
  assert.equal(lost, 0);
  assert.equal(torn, 0);
  assert.equal(cells.length, 12);
  for (const cell of cells) {
    const kind = cell.envIds[0] as number;
    const times = Math.floor((7000 - kind - 1) / 12) + 1;
    assert.equal(cell.count, times);
    assert.equal(cell.envs, times);
    assert.deepEqual(
      cell.envIds,
      [0, 1, 2, 3, 4, 5, 6, 7].map((i) => kind + 12 * i),
    );
    assert.equal(cell.exemplar.envId, kind);
    assert.equal(cell.firstMs, kind + 1);
    assert.ok(cell.lastMs > 6900);
  }
  assert.deepEqual(tables.read(0), { cells: [], lost: 0, torn: 0 });
});

test('whatever comes, counts and lost add up to what was added', () => {
  // Goal: property over kinds (more than there are cells), entries, envs, reopenings by later lives, and hostile records.
  const oneError = fc.record({
    kind: fc.nat(50),
    entry: fc.constantFrom('cart', 'pole'),
    envId: fc.oneof(fc.integer({ min: -5, max: 20_000 }), fc.constantFrom(Number.NaN, 1e12, 1.5)),
    reopen: fc.boolean(),
    long: fc.string({ unit: 'binary', maxLength: 4000 }),
  });
  fc.assert(
    fc.property(fc.array(oneError, { maxLength: 120 }), (errors) => {
      const tables = freshTables();
      let writer: OpenErrorTables = tables;
      const seen = new Map<string, number>();
      for (const { kind, entry, envId, reopen, long } of errors) {
        if (reopen) writer = openErrorTables(tables.buffer, 1, false, clock());
        writer.add(0, record({ entry, envId, message: `Error: ${kindOf(kind)} ${long}` }));
        seen.set(entry + kind, 1);
      }
      const { cells, lost } = tables.read(0);
      assert.equal(sum(cells.map((cell) => cell.count)) + lost, errors.length);
      assert.ok(cells.length <= ERROR_CELLS);
      if (seen.size <= ERROR_CELLS && errors.every(({ long }) => long === '')) assert.equal(lost, 0);
      for (const cell of cells) assert.ok(cell.envs <= Math.min(cell.count, CELL_ENV_BITS));
    }),
    { numRuns: 60 },
  );
});

test('a record that is no record is counted and takes nothing down', () => {
  // Goal: add never throws.
  const tables = freshTables();
  const hostile = {
    get message(): string {
      throw new Error('gotcha');
    },
  };
  tables.add(0, hostile as never);
  tables.add(0, null as never);
  tables.add(0, { envId: 'x', entry: null, operation: 7, message: Symbol('s'), stack: undefined } as never);
  tables.add(99, record());
  const { cells, lost } = tables.read(0);
  assert.equal(sum(cells.map((cell) => cell.count)) + lost, 3);
  assert.deepEqual(
    cells.map((cell) => [cell.exemplar.envId, cell.exemplar.operation, cell.exemplar.message, cell.envIds]),
    [[-1, 'idle', 'Symbol(s)', []]],
  );
});

test('the kind not seen for the longest time gives way', () => {
  // Goal: a full table keeps what goes on happening.
  const tables = freshTables();
  for (let i = 0; i < ERROR_CELLS; i++) tables.add(0, record({ message: kindOf(i) }));
  tables.add(0, record({ message: kindOf(0) }));
  tables.add(0, record({ message: 'newcomer' }));
  const { cells, lost } = tables.read(0);
  assert.equal(lost, 1);
  const messages = cells.map((cell) => cell.exemplar.message);
  assert.ok(messages.includes('newcomer') && messages.includes(kindOf(0)) && !messages.includes(kindOf(1)));
});

test('a reader that looks while a cell is half written passes it over', () => {
  // Goal: neither the old error under the new name nor the other way round; the sum holds at that moment too.
  let looks = 0;
  let adds = 0;
  const buffer = new ArrayBuffer(errorTableBytes(1));
  const reader = openErrorTables(buffer, 1, true, clock());
  const writer = openErrorTables(buffer, 1, false, () => {
    const { cells, lost, torn } = reader.read(0);
    looks++;
    assert.equal(torn, 1);
    cells.forEach(assertUnmixed);
    assert.equal(sum(cells.map((cell) => cell.count)) + lost, adds);
    return adds;
  });
  for (let i = 0; i < 3 * ERROR_CELLS; i++) {
    adds++;
    const entry = kindOf(i);
    writer.add(
      0,
      record({ entry, message: `Error: ${entry}`, stack: `    at ${entry} (/x.js:1:1)\n`.repeat(1 + (entry.charCodeAt(0) % 40)) }),
    );
  }
  assert.equal(looks, 3 * ERROR_CELLS);
  assert.equal(reader.read(0).torn, 0);
});

test('a table of another build or another number of lines is refused', () => {
  // Goal: bad-segment with what was found.
  const { buffer } = freshTables(2);
  assert.throws(() => openErrorTables(buffer, 3, false, clock()), { code: 'bad-segment', message: /holds \d+ bytes, 3 lines need/ });
  assert.throws(
    () => openErrorTables(new ArrayBuffer(errorTableBytes(2)), 2, false, clock()),
    /ready, magic, version, lines are 0, 0, 0, 0/,
  );
  assert.throws(() => openErrorTables(buffer, 1, false, clock()), { code: 'bad-segment' });
});

test('a writer killed in the middle of a cell costs that one error; the next life mends the cell', { timeout: 60_000 }, async (t) => {
  // Goal: SIGKILL while the sequence word is odd: readers skip and count the cell, everything else stays, the successor uses it again.
  const shared = sharedTables();
  const { signal } = await runWriter(t, shared.fd, ['cut', '40']).ended;
  assert.equal(signal, 'SIGKILL');
  const dead = shared.tables.read(0);
  assert.equal(dead.torn, 1);
  // 39 whole adds of kind "steady", then the one whose writing was cut.
  assert.deepEqual(
    dead.cells.map((cell) => [cell.exemplar.message, cell.count]),
    [['steady', 39]],
  );
  assert.equal(dead.lost, 1);
  const next = openErrorTables(shared.buffer, 1, false, clock());
  for (let i = 0; i < ERROR_CELLS - 1; i++) next.add(0, record({ message: kindOf(i) }));
  const mended = shared.tables.read(0);
  assert.equal(mended.torn, 0);
  assert.equal(mended.cells.length, ERROR_CELLS);
  assert.equal(sum(mended.cells.map((cell) => cell.count)) + mended.lost, 40 + ERROR_CELLS - 1);
  assert.equal(mended.lost, 1);
});

test('a hot writer killed at any moment: no torn cell is read, and the sum stays exact', { timeout: 120_000 }, async (t) => {
  // Goal: five lives that rewrite cells as fast as they can, each killed while this process reads.
  const shared = sharedTables();
  let reads = 0;
  for (let life = 0; life < 5; life++) {
    const writer = runWriter(t, shared.fd, ['flood', String(life)]);
    const before = shared.added();
    while (shared.added() - before < 3000n) {
      await sleep(1); // lets the exit event in; the loop is bounded by the test's time limit
      assert.equal(writer.child.exitCode, null, 'the writer ended early');
      for (let i = 0; i < 40; i++) {
        const seen = shared.tables.read(0);
        reads++;
        assert.ok(seen.lost >= 0);
        seen.cells.forEach(assertUnmixed);
      }
    }
    writer.child.kill('SIGKILL');
    await writer.ended;
    const still = shared.tables.read(0);
    assert.equal(sum(still.cells.map((cell) => cell.count)) + still.lost, Number(shared.added()));
    assert.ok(still.torn <= 1);
  }
  assert.ok(reads > 10);
});

/** The writer puts the same letters into message, entry and stack: a mixed cell would show. */
function assertUnmixed({ exemplar, fingerprint }: ErrorCell): void {
  const { message, entry, stack } = exemplar;
  assert.equal(message, `Error: ${entry}`);
  assert.equal(stack, `    at ${entry} (/x.js:1:1)\n`.repeat(1 + (entry.charCodeAt(0) % 40)));
  assert.equal(fingerprint, fingerprintOf(exemplar));
}

function sharedTables(): { fd: number; buffer: ArrayBuffer; tables: OpenErrorTables; added: () => bigint } {
  const native = loadNative();
  const bytes = errorTableBytes(1);
  const fd = native.createObject('envladder:errors-test', bytes);
  const buffer = new native.Mapping(fd, 0, bytes).takeBuffer();
  // The line's head: errors added so far.
  const head = new BigInt64Array(buffer, 64, 1);
  return { fd, buffer, tables: openErrorTables(buffer, 1, true, clock()), added: () => Atomics.load(head, 0) };
}

function runWriter(t: TestContext, fd: number, args: readonly string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', WRITER, ...args], { stdio: ['ignore', 'inherit', 'inherit', fd] });
  // A failed assertion must not leave a writer behind that never ends.
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }) as { code: number | null; signal: string | null });
  return { child, ended };
}
