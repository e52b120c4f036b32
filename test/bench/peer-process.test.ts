import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { outcomeOf, tellStory } from '../../harness/bench/peers/fault-story.js';
import { findVenv, lookForVenv } from '../../harness/bench/peers/make-venv.js';
import { measureFaults } from '../../harness/bench/peers/measure-faults.js';
import { measureLearning } from '../../harness/bench/peers/measure-learning.js';
import { measureStarts } from '../../harness/bench/peers/measure-starts.js';
import { measureWindows } from '../../harness/bench/peers/measure-windows.js';
import { parseAnswer } from '../../harness/bench/peers/peer-answer.js';
import { type PeerProcess, startPeer } from '../../harness/bench/peers/peer-process.js';
import { fakeContender, fakeContext, fakePython, fakeRow } from '../fixtures/fake-peers.js';

const LIMIT = { timeout: 120_000 };
const ANSWER_MS = 60_000;
const python = fakePython();

function startFake(spec: object): PeerProcess {
  return startPeer({ label: 'fake', command: python, args: ['steps.py', JSON.stringify(spec)] });
}

test('a line that is no answer is an error that shows the line', () => {
  // Goal: what a peer prints can never become a figure.
  assert.deepEqual(parseAnswer('{"type":"window","steps":3,"seconds":0.5}'), { type: 'window', steps: 3, seconds: 0.5 });
  assert.throws(() => parseAnswer('Welcome!'), /no JSON: Welcome!/);
  assert.throws(() => parseAnswer('{"type":"window","steps":-3,"seconds":0.5}'), /steps: .*-3/);
  assert.throws(() => parseAnswer('{"type":"window","steps":3,"seconds":0}'), /seconds/);
  assert.throws(() => parseAnswer('{"type":"bye"}'), /not understood/);
  fc.assert(
    fc.property(fc.string(), (line) => {
      assert.throws(() => parseAnswer(line), /a driver's line/);
    }),
  );
});

test('orders are answered, and a driver that leaves by itself leaves nothing', LIMIT, async () => {
  // Goal: the plain way.
  const peer = startFake({ act: 'steps', steps: 7, seconds: 0.5 });
  try {
    assert.deepEqual((await peer.expect('ready', ANSWER_MS)).versions, { fake: '1.2.3' });
    peer.order('window 1');
    assert.deepEqual(await peer.expect('window', ANSWER_MS), { type: 'window', steps: 7, seconds: 0.5 });
    assert.ok(peer.pssBytes() > 0);
    assert.equal(peer.pids().length, 1);
  } finally {
    await peer.close();
  }
  assert.deepEqual(peer.pids(), []);
});

test('a paused driver answers only after it was resumed', LIMIT, async () => {
  // Goal: who is not measured uses no CPU.
  const peer = startFake({ act: 'steps' });
  try {
    await peer.expect('ready', ANSWER_MS);
    peer.pause();
    peer.order('window 1');
    assert.equal(await peer.next(300), null);
    peer.resume();
    await peer.expect('window', ANSWER_MS);
  } finally {
    await peer.close();
  }
});

test('processes that outlive their driver are found and ended', LIMIT, async () => {
  // Goal: no peer leaves anything on the machine, also in a session of its own and with its parent gone.
  const peer = startFake({ act: 'orphan' });
  try {
    await peer.expect('ready', ANSWER_MS);
    assert.equal(peer.pids().length, 2);
    assert.equal(await peer.killDriver(300), 1);
  } finally {
    await peer.close();
  }
  assert.deepEqual(peer.pids(), []);
});

test('a driver that ends, speaks nonsense or says nothing is an error with its name', LIMIT, async () => {
  // Goal: every way to fail has a bound and a reason.
  const cases = [
    [startFake({ act: 'crash' }), ANSWER_MS, /fake: the driver ended \(exit code 3\): the made-up import failed/],
    [startFake({ act: 'nonsense' }), ANSWER_MS, /no JSON: Welcome to the peer!/],
    [startFake({ act: 'silent' }), 1000, /fake: no 'ready' within 1 s/],
    [startPeer({ label: 'gone', command: join(tmpdir(), 'no-such-python'), args: [] }), ANSWER_MS, /gone: could not be started: .*ENOENT/],
  ] as const;
  try {
    for (const [peer, limitMs, why] of cases) await assert.rejects(peer.expect('ready', limitMs), why);
  } finally {
    for (const [peer] of cases) await peer.close();
  }
});

test('one that fails in a row is its own dash, the others are measured', LIMIT, async () => {
  // Goal: a peer that breaks costs only its own figures.
  const row = fakeRow([
    fakeContender('own', { act: 'steps', steps: 400, seconds: 2 }),
    fakeContender('good', { act: 'steps', steps: 100, seconds: 1 }),
    fakeContender('broken', { act: 'crash' }),
    fakeContender('unable', {}, 'has no threads'),
  ]);
  const [own, good, broken, unable] = await measureWindows(fakeContext(), row);
  assert.deepEqual([own?.samples.map((sample) => sample?.value), good?.samples.map((sample) => sample?.value)], [[200], [100]]);
  assert.match(broken?.reason ?? '', /the made-up import failed/);
  assert.deepEqual([broken?.failed, unable?.failed, unable?.reason], [true, false, 'has no threads']);
});

test('a disturbed window is taken again while re-takes are left, the least disturbed stays', LIMIT, async () => {
  // Goal: a neighbour's work does not become a peer's figure, and a machine that is never quiet ends.
  let looks = 0;
  const load = { start: () => undefined, foreignCores: () => [0.9, 0.8, 0.1][looks++] ?? 0.7 };
  const row = fakeRow([fakeContender('own', { act: 'steps' })]);
  const [own] = await measureWindows(fakeContext({ quick: false, load }), row);
  assert.deepEqual(
    own?.samples.map((sample) => sample?.foreignCores),
    [0.1, 0.7, 0.7, 0.7, 0.7, 0.7],
  );
  // Six windows and six re-takes: two of them for the first.
  assert.equal(looks, 12);
});

test('a peer that dies in a later round loses its figures', LIMIT, async () => {
  // Goal: half a row is no row.
  const row = fakeRow([fakeContender('own', { act: 'steps' }), fakeContender('weak', { act: 'dies-later' })]);
  const [own, weak] = await measureWindows(fakeContext({ quick: false }), row);
  assert.equal(own?.samples.length, 6);
  assert.deepEqual([weak?.samples.length, weak?.failed], [0, true]);
  assert.match(weak?.reason ?? '', /exit code 4/);
});

test('starts, learning and faults of made-up peers', LIMIT, async () => {
  // Goal: each kind of row takes what the driver says to the place where it is read.
  const context = fakeContext();
  const [start] = await measureStarts(context, fakeRow([fakeContender('own', { act: 'steps' })], 'start'));
  assert.equal(start?.samples[0]?.value, 0.25);
  assert.equal(start?.samples[0]?.extra.importS, 0.5);
  assert.ok((start?.samples[0]?.extra.pssBytes ?? 0) > 0);
  const [learned, never] = await measureLearning(
    context,
    fakeRow([fakeContender('own', { act: 'steps' }), fakeContender('never', { act: 'never-learns' })], 'learn'),
  );
  assert.deepEqual([learned?.samples[0]?.value, learned?.note], [2, 'seed 1: 100 steps']);
  assert.equal(never?.reason, 'seed 1: not reached in 20 s');
  const faults = await measureFaults(
    context,
    fakeRow([fakeContender('a', { act: 'steps' }), fakeContender('b', { act: 'hang' })], 'fault'),
  );
  assert.equal(faults[0]?.note, 'raises. step: EOFError: gone after 3 ms; close: ok');
  assert.match(faults[1]?.note ?? '', /^hangs\. step: no end in 4 s \(waits\)$/);
});

test('a story tells each stage, the hang and what was left', () => {
  // Goal: the words of the fault rows follow from what was seen and from nothing else.
  const begin = { type: 'stage', stage: 'step', event: 'begin' } as const;
  const raised = { type: 'stage', stage: 'step', event: 'raised', error: 'EOFError: ', afterS: 0.004 } as const;
  const on = { type: 'stage', stage: 'step', event: 'went-on', steps: 1200, afterS: 2 } as const;
  const close = { type: 'stage', stage: 'close', event: 'begin' } as const;
  const spin = { stage: 'step', seconds: 10, cores: 0.97 };
  assert.equal(outcomeOf({ stages: [begin], hang: spin, orphans: 7 }), 'hangs');
  assert.equal(
    tellStory({ stages: [begin], hang: spin, orphans: 7 }),
    'step: no end in 10 s (spins, 1.0 cores); 7 processes live on after the program was killed',
  );
  const late = { stages: [begin, raised, close], hang: { ...spin, stage: 'close', cores: 0 }, orphans: 0 };
  assert.equal(outcomeOf(late), 'raises');
  assert.equal(tellStory(late), 'step: EOFError:  after 4 ms; close: no end in 10 s (waits)');
  assert.equal(outcomeOf({ stages: [begin, on], hang: null, orphans: null }), 'goes on');
  assert.match(tellStory({ stages: [begin, on], hang: null, orphans: null }), /1,200 steps went on as if nothing were/);
});

/** Runs `body` with other values of PATH and the cache folder. */
function withEnvironment<Result>(path: string, cache: string, body: () => Result): Result {
  const before = { PATH: process.env.PATH, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME };
  Object.assign(process.env, { PATH: path, XDG_CACHE_HOME: cache });
  try {
    return body();
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

test('without Python, or with one that cannot make an environment, there is a reason and nothing left', LIMIT, () => {
  // Goal: a bare machine gets dashes that say what to install, never a stack trace or half an environment.
  const cache = mkdtempSync(join(tmpdir(), 'peers-cache-'));
  const none = withEnvironment('', cache, () => findVenv('gymnasium', () => undefined));
  assert.match('reason' in none ? none.reason : '', /no python3 on the PATH .*apt-get install python3-venv/);
  const bin = mkdtempSync(join(tmpdir(), 'peers-bin-'));
  const fake = join(bin, 'python3');
  writeFileSync(fake, '#!/bin/sh\n[ "$1" = -c ] && echo 3.11.0 && exit 0\necho "Error: ensurepip is not available" >&2\nexit 1\n');
  chmodSync(fake, 0o755);
  const path = `${bin}:/bin:/usr/bin`;
  const broken = withEnvironment(path, cache, () => findVenv('gymnasium', () => undefined));
  assert.match('reason' in broken ? broken.reason : '', /python3 -m venv .*failed: Error: ensurepip is not available/);
  assert.deepEqual(readdirSync(join(cache, 'envladder')), []);
  const needs = withEnvironment(path, cache, () => findVenv('puffer', () => undefined));
  assert.match('reason' in needs ? needs.reason : '', /^needs the packages of sb3: /);
});

test('an environment is made once, and one whose packages failed is not taken for whole', LIMIT, () => {
  // Goal: a second run downloads nothing; a run that was cut short or refused leaves nothing that looks finished.
  const cache = mkdtempSync(join(tmpdir(), 'peers-cache-'));
  const bin = mkdtempSync(join(tmpdir(), 'peers-bin-'));
  const calls = join(bin, 'calls');
  const broken = join(bin, 'broken');
  // `python3 -m venv DIR` makes a DIR whose python notes each call and fails while the file `broken` is there.
  writeFileSync(join(bin, 'inner'), `#!/bin/sh\necho "$@" >> ${calls}\n[ ! -e ${broken} ]\n`);
  writeFileSync(
    join(bin, 'python3'),
    `#!/bin/sh\n[ "$1" = -c ] && echo 3.11.0 && exit 0\nmkdir -p "$3/bin" "$3/lib/python3.11/site-packages" && cp ${bin}/inner "$3/bin/python"\n`,
  );
  for (const name of ['inner', 'python3']) chmodSync(join(bin, name), 0o755);
  const inside = <Result>(body: () => Result): Result => withEnvironment(`${bin}:/bin:/usr/bin`, cache, body);
  const find = () => inside(() => findVenv('gymnasium', () => undefined));
  writeFileSync(broken, '');
  assert.match(JSON.stringify(find()), /pip install numpy.* failed/);
  assert.match(JSON.stringify(inside(() => lookForVenv('gymnasium'))), /not made yet/);
  assert.deepEqual(readdirSync(join(cache, 'envladder')), []);
  rmSync(broken);
  writeFileSync(calls, '');
  const made = find();
  assert.ok('python' in made && existsSync(made.python), JSON.stringify(made));
  // Packages, then the proof; then nothing more.
  assert.equal(readFileSync(calls, 'utf8').trim().split('\n').length, 2);
  assert.deepEqual(find(), made);
  assert.deepEqual(
    inside(() => lookForVenv('gymnasium')),
    made,
  );
  assert.equal(readFileSync(calls, 'utf8').trim().split('\n').length, 2);
});
