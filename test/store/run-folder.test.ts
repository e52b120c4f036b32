import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EnvladderError } from '../../harness/contract/errors.js';
import { isLock, readHolder, takeLock } from '../../harness/store/folder-lock.js';
import { judgeLiveness, ownIdentity, startTicksOf } from '../../harness/store/process-identity.js';
import { openRunFolder } from '../../harness/store/run-folder.js';
import { readRunRecord, writeRunRecord } from '../../harness/store/run-record-file.js';
import { sealDeadRun } from '../../harness/store/seal-dead-run.js';
import { fixtureRecord, LADDER_RUN } from '../fixtures/ladder-run.js';
import { spawnChild } from './spawn-child.js';
import { mountTinyDisk } from './tiny-disk.js';

const WATCHDOG = { timeout: 60_000 };
const freshDir = () => mkdtempSync(join(tmpdir(), 'envladder-folder-'));
const refusal = (pattern: RegExp) => (error: EnvladderError) => {
  assert.equal(error.code, 'run-folder');
  assert.match(error.message, pattern);
  assert.match(error.message, /--out/, 'says what to do');
  return true;
};

test('a run folder is created with its parents and can be used again once given up unused', async () => {
  // Goal: the good path, and that release leaves nothing behind.
  const dir = join(freshDir(), 'a', 'b');
  const folder = await openRunFolder(dir);
  assert.deepEqual([folder.dir, folder.owner.pid], [dir, process.pid]);
  folder.release();
  assert.deepEqual(readdirSync(dir), []);
  (await openRunFolder(dir)).release();
});

test('a folder that cannot be written is refused with its errno', async (t) => {
  // Goal: --out on a file, on a read-only disk, without permission, on a full disk: each named before anything starts.
  const dir = freshDir();
  writeFileSync(join(dir, 'file'), '');
  await assert.rejects(openRunFolder(join(dir, 'file', 'run')), refusal(/ENOTDIR/));
  await assert.rejects(openRunFolder('/proc/envladder'), refusal(/ENOENT/));
  if (process.getuid?.() === 0) {
    chmodSync(dir, 0o755);
    const nobody = spawnChild(t, 'open-run-folder', [join(dir, 'run')], {
      uid: 65_534,
      gid: 65_534,
      env: { ...process.env, HOME: '/nonexistent', TMPDIR: '/tmp' },
    });
    assert.match(await nobody.line(), /"run-folder".*EACCES/);
  }
  const disk = mountTinyDisk(t, 64, ',nr_inodes=4');
  if (disk === undefined) return;
  disk.fill();
  await assert.rejects(openRunFolder(join(disk.dir, 'run')), refusal(/ENOSPC.*free space/));
});

test('a second run in a folder is refused while the first lives and after it finished', async () => {
  // Goal: no record is ever overwritten by another run.
  const dir = freshDir();
  const folder = await openRunFolder(dir);
  await assert.rejects(openRunFolder(dir), refusal(new RegExp(`in use by process ${process.pid} `)));
  await writeRunRecord(dir, fixtureRecord());
  folder.release();
  const before = readFileSync(join(dir, 'run.json'));
  await assert.rejects(openRunFolder(dir), refusal(/holds a finished run/));
  assert.deepEqual(readFileSync(join(dir, 'run.json')), before);
});

test('a record that cannot be read is refused by name, one that is not there is none', async () => {
  // Goal: no errno of a path typed wrong ends as a bug.
  const dir = freshDir();
  assert.equal(await readRunRecord(dir), undefined);
  writeFileSync(join(dir, 'file'), '');
  await assert.rejects(readRunRecord(join(dir, 'file')), { code: 'bad-record', message: /file\/run\.json cannot be read \(ENOTDIR\)/ });
  mkdirSync(join(dir, 'run.json'));
  await assert.rejects(readRunRecord(dir), { code: 'bad-record', message: /run\.json cannot be read \(EISDIR\)/ });
});

test('files that a run would overwrite, but that belong to no run, are left alone', async () => {
  // Goal: --out on the wrong folder destroys nothing; a broken run.json is not taken for an empty folder.
  const dir = freshDir();
  writeFileSync(join(dir, 'metrics.ndjson'), 'mine');
  await assert.rejects(openRunFolder(dir), refusal(/holds metrics\.ndjson/));
  assert.equal(readFileSync(join(dir, 'metrics.ndjson'), 'utf8'), 'mine');
  const broken = freshDir();
  writeFileSync(join(broken, 'run.json'), '{');
  await assert.rejects(openRunFolder(broken), refusal(/no run record/));
  assert.deepEqual(readdirSync(broken), ['run.json'], 'no lock is left by a refusal');
});

test('exactly one of several processes wins a folder, free or left by a dead owner', WATCHDOG, async (t) => {
  // Goal: two starts cannot both win; real processes, started on one signal, 40 rounds, half of them over a dead owner's lock.
  const root = freshDir();
  const rounds = 40;
  const racers = 3;
  const dead = { ...ownIdentity(), pid: 1, start_ticks: 1 };
  for (let round = 0; round < rounds; round++) {
    mkdirSync(join(root, String(round)));
    if (round % 2 === 1) writeFileSync(join(root, String(round), 'supervisor.1.lock'), JSON.stringify(dead));
  }
  const children = Array.from({ length: racers }, (_, id) => spawnChild(t, 'race-for-lock', [root, String(rounds), String(id)]));
  for (let round = 0; round < rounds; round++) {
    for (let id = 0; id < racers; id++) {
      while (!existsSync(join(root, `ready-${round}-${id}`))) await new Promise((resolve) => setImmediate(resolve));
    }
    writeFileSync(join(root, `go-${round}`), '');
  }
  const won = await Promise.all(children.map(async (child) => JSON.parse(await child.line()) as number[]));
  const winners = won.flat().sort((a, b) => a - b);
  assert.deepEqual(
    winners,
    Array.from({ length: rounds }, (_, round) => round),
  );
  for (let round = 0; round < rounds; round++) {
    assert.equal(readHolder(join(root, String(round)))?.number, round % 2 === 1 ? 2 : 1);
    assert.ok(
      readdirSync(join(root, String(round))).every((name) => name.endsWith('.lock')),
      'no temporary file is left',
    );
  }
});

test('after kill -9 of the supervisor the next start seals the run and refuses the folder', WATCHDOG, async (t) => {
  // Goal: the record says what died and when, its earlier content stays, and a live owner is never sealed.
  const dir = join(freshDir(), 'run');
  const holder = spawnChild(t, 'hold-run-folder', [dir, join(LADDER_RUN, 'run.json')]);
  assert.equal(await holder.line(), 'holding');
  await assert.rejects(openRunFolder(dir), refusal(new RegExp(`in use by process ${holder.process.pid} `)));
  assert.equal(await sealDeadRun(dir), null, 'the owner lives');
  holder.process.kill('SIGKILL');
  await holder.ended;
  writeFileSync(join(dir, 'metrics.ndjson'), `${readFileSync(join(dir, 'metrics.ndjson'), 'utf8')}{"t_s": 99, "torn`);

  await assert.rejects(openRunFolder(dir), (error: EnvladderError) => {
    assert.equal(error.detail['sealed'], true);
    return refusal(/died without stopping/)(error);
  });
  const record = await readRunRecord(dir);
  assert.ok(record);
  assert.deepEqual([record.run.state, record.verdict, record.validity.verdict, record.exit_code], ['failed', 'invalid', 'invalid', 4]);
  assert.deepEqual(
    record.validity.reasons.map((reason) => reason.code),
    ['supervisor-died'],
  );
  const death = record.deaths.at(-1);
  assert.deepEqual(
    [death?.role, death?.cause, death?.pid, death?.run_s],
    ['supervisor', 'died without stopping', holder.process.pid, 7.25],
  );
  assert.equal(record.run.seconds, 7.25);
  assert.ok(Math.abs(Date.parse(record.run.ended_at ?? '') - statSync(join(dir, 'metrics.ndjson')).mtimeMs) < 60_000);
  assert.deepEqual(record.tiers, fixtureRecord().tiers);
  assert.equal(await sealDeadRun(dir), null, 'sealed once');
  await assert.rejects(openRunFolder(dir), refusal(/holds a failed run/));
});

test('a run that died before its first record leaves a folder that can be taken', WATCHDOG, async (t) => {
  // Goal: what cannot be reported is cleared, and only then.
  const dir = join(freshDir(), 'run');
  const holder = spawnChild(t, 'hold-run-folder', [dir]);
  assert.equal(await holder.line(), 'holding');
  holder.process.kill('SIGKILL');
  await holder.ended;
  assert.ok(existsSync(join(dir, 'events.sqlite')));
  writeFileSync(join(dir, '.run.json.1.0.tmp'), 'unfinished');
  const folder = await openRunFolder(dir);
  assert.deepEqual(
    readdirSync(dir).filter((name) => !name.endsWith('.lock')),
    [],
  );
  folder.release();
});

test('a recycled pid, a reboot and a zombie are dead; another pid namespace cannot be judged', WATCHDOG, async (t) => {
  // Goal: the pid alone never decides who is alive.
  const own = ownIdentity();
  assert.equal(judgeLiveness(own), 'alive');
  assert.equal(judgeLiveness({ ...own, start_ticks: own.start_ticks + 1 }), 'dead');
  assert.equal(judgeLiveness({ ...own, boot_id: 'another boot' }), 'dead');
  assert.equal(judgeLiveness({ ...own, pid_namespace: 'pid:[1]' }), 'foreign');
  // A shell that becomes `sleep` before its child ends never collects it: that stays a zombie.
  const shell = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60']);
  t.after(() => shell.kill('SIGKILL'));
  const [printed] = (await once(shell.stdout, 'data')) as [Buffer];
  const zombie = Number(printed.toString());
  const state = () => readFileSync(`/proc/${zombie}/stat`, 'utf8').split(') ')[1]?.[0];
  while (state() !== 'Z') await new Promise((resolve) => setImmediate(resolve));
  assert.equal(startTicksOf(zombie), undefined);
  assert.equal(typeof startTicksOf(shell.pid ?? 0), 'number');
  shell.kill('SIGKILL');
  await once(shell, 'close');
  assert.equal(startTicksOf(shell.pid ?? 0), undefined);
  const dir = freshDir();
  writeFileSync(join(dir, 'supervisor.1.lock'), JSON.stringify({ ...own, pid_namespace: 'pid:[1]' }));
  assert.ok(!isLock(takeLock(dir)), 'an owner in another container is not overrun');
  writeFileSync(join(dir, 'supervisor.1.lock'), 'not ours');
  assert.ok(!isLock(takeLock(dir)), 'a lock that names nobody is not overrun');
});
