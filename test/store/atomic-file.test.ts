import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EnvladderError } from '../../harness/contract/errors.js';
import { type FileIo, writeFileAtomic } from '../../harness/store/atomic-file.js';
import { readRunRecord, writeRunRecord } from '../../harness/store/run-record-file.js';
import { fixtureRecord } from '../fixtures/ladder-run.js';
import { mountTinyDisk } from './tiny-disk.js';

const REAL: FileIo = { open, rename, unlink };

function failWith(code: string): never {
  throw Object.assign(new Error(`${code}: injected`), { code });
}

/** Wraps a real handle so that one of its operations fails, on files or on folders. */
function failing(step: 'writeFile' | 'sync' | 'rename' | 'sync-folder', code: string): FileIo {
  return {
    ...REAL,
    async open(path, flags) {
      const handle = await open(path, flags);
      const broken = step === 'sync-folder' ? flags === 'r' : flags !== 'r';
      return {
        writeFile: async (data) => (broken && step === 'writeFile' ? failWith(code) : handle.writeFile(data)),
        sync: async () => (broken && (step === 'sync' || step === 'sync-folder') ? failWith(code) : handle.sync()),
        close: () => handle.close(),
      };
    },
    rename: async (from, to) => (step === 'rename' ? failWith(code) : rename(from, to)),
  };
}

test('whatever step of a write fails, the old file stays whole and nothing is left beside it', async () => {
  // Goal: a full or broken disk costs the new version of a file, never the old one.
  for (const [step, code] of [
    ['writeFile', 'ENOSPC'],
    ['sync', 'EIO'],
    ['rename', 'EIO'],
  ] as const) {
    const dir = mkdtempSync(join(tmpdir(), 'envladder-atomic-'));
    const path = join(dir, 'run.json');
    writeFileSync(path, 'old');
    await assert.rejects(writeFileAtomic(path, 'new', failing(step, code)), (error: EnvladderError) => {
      assert.equal(error.code, 'record-lost');
      assert.deepEqual([error.detail['path'], error.detail['errno']], [path, code]);
      assert.ok(error.message.includes(path) && error.message.includes(code), error.message);
      return true;
    });
    assert.equal(readFileSync(path, 'utf8'), 'old', step);
    assert.deepEqual(readdirSync(dir), ['run.json'], step);
  }
});

test('a folder without fsync is no failure, any other errno of it is', async () => {
  // Goal: EINVAL of exotic file systems is tolerated, EIO is not hidden.
  const path = join(mkdtempSync(join(tmpdir(), 'envladder-atomic-')), 'a');
  await writeFileAtomic(path, 'new', failing('sync-folder', 'EINVAL'));
  assert.equal(readFileSync(path, 'utf8'), 'new');
  await assert.rejects(writeFileAtomic(path, 'newer', failing('sync-folder', 'EIO')), { code: 'record-lost' });
});

test('a run record that finds the disk full is lost with path and errno, and the last one still reads', async (t) => {
  // Goal: on a really full disk, run.json of the tier before survives and the caller learns what to do.
  const disk = mountTinyDisk(t, 256);
  if (disk === undefined) return;
  const record = fixtureRecord();
  await writeRunRecord(disk.dir, record);
  disk.fill();
  await assert.rejects(writeRunRecord(disk.dir, { ...record, exit_code: 4 }), (error: EnvladderError) => {
    assert.equal(error.code, 'record-lost');
    assert.equal(error.detail['errno'], 'ENOSPC');
    assert.match(error.message, /run\.json.*ENOSPC.*free space/);
    return true;
  });
  assert.equal((await readRunRecord(disk.dir))?.exit_code, record.exit_code);
  disk.free();
  await writeRunRecord(disk.dir, { ...record, exit_code: 4 });
  assert.equal((await readRunRecord(disk.dir))?.exit_code, 4);
});

test('a record comes back from disk as it was written, with histograms on one line', async () => {
  // Goal: schema round trip; and strings that look like arrays are left alone.
  const dir = mkdtempSync(join(tmpdir(), 'envladder-atomic-'));
  const record = { ...fixtureRecord(), health: null, plan: { text: '[\n  1,\n  2\n]', numbers: [1, -2.5, 3e21], words: ['1', '2'] } };
  await writeRunRecord(dir, record);
  assert.deepEqual(await readRunRecord(dir), record);
  assert.match(readFileSync(join(dir, 'run.json'), 'utf8'), /"numbers": \[1, -2\.5, 3e\+21\]/);
});

test('a record that breaks the schema is refused with the field and never written', async () => {
  // Goal: a bug upstream shows at the write, not in the report of a run that took days.
  const dir = mkdtempSync(join(tmpdir(), 'envladder-atomic-'));
  const record = fixtureRecord();
  const [tier] = record.tiers;
  assert.ok(tier);
  const broken = { ...record, tiers: [{ ...tier, sampling_sps: Number.NaN }] };
  await assert.rejects(
    writeRunRecord(dir, broken),
    (error: EnvladderError) => error.code === 'bad-record' && error.message.includes('tiers.0.sampling_sps'),
  );
  assert.deepEqual(readdirSync(dir), []);
  writeFileSync(join(dir, 'run.json'), '{"torn');
  await assert.rejects(readRunRecord(dir), { code: 'bad-record' });
});
