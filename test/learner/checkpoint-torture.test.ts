import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { failingIoEnv, IO_FAULTS, type IoFault } from '../../harness/chaos/failing-io.js';
import type { FromLearner } from '../../harness/contract/messages.js';
import { listCheckpoints } from '../../harness/learner/checkpoint-folder.js';
import { UNFINISHED } from '../../harness/learner/checkpoint-format.js';
import { loadCheckpoint, newestCheckpoint, restorePolicy } from '../../harness/learner/checkpoint-read.js';
import { writeCheckpoint } from '../../harness/learner/checkpoint-write.js';
import { openResume } from '../../harness/learner/resume.js';
import { compileInto } from './compiled.js';
import { numbersOf, policyOf } from './made-policy.js';

const WATCHDOG = { timeout: 300_000 };
/** Far more file calls than a checkpoint makes: the loops end when one is written without a fault. */
const MAX_CALLS = 400;
/** Checkpoints that are there before: as many as are kept, so that writing one removes one. */
const BEFORE = [1000, 2000, 3000];
const OLD = 3000;
const NEW = 4000;
const LATER = 5000;

const folder = mkdtempSync(join(tmpdir(), 'envladder-torture-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const template = join(folder, 'template');
let child: string;

/** The policy that was written as `step`, or undefined when the checkpoint holds anything else. */
function holds(path: string, step: number): boolean {
  const [stored] = loadCheckpoint(path).policies;
  const blank = policyOf(9, 0);
  if (stored === undefined) return false;
  restorePolicy(blank, stored, path);
  return numbersOf(blank) === numbersOf(policyOf(step, step));
}

interface Outcome {
  readonly signal: NodeJS.Signals | null;
  readonly fired: boolean;
  readonly said: readonly FromLearner[];
}

/** A process writes the checkpoint NEW into `where`; its file call number `at` goes wrong. */
async function writeUnder(where: string, fault: IoFault, at: number): Promise<Outcome> {
  const fired = `${where}-fired`;
  const writer = spawn(process.execPath, [child, where, String(NEW)], {
    env: { ...process.env, ...failingIoEnv({ prefix: where, at, fault, fired }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  writer.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((done) => {
    writer.on('close', (...ended) => done(ended));
  });
  assert.ok(code === 0 || signal === 'SIGKILL', `the writer ended with code ${code}, signal ${signal}`);
  const said = output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as FromLearner);
  return { signal, fired: existsSync(fired), said };
}

/** What must hold of the folder whatever happened to the writer. */
async function judge(where: string, fault: IoFault, at: number, { signal, said }: Outcome): Promise<void> {
  const what = `${fault} at call ${at}`;
  const { checkpoint, skipped } = newestCheckpoint(where);
  assert.deepEqual(skipped, [], `${what}: nothing that is visible is damaged`);
  assert.ok(checkpoint.step === OLD || checkpoint.step === NEW, `${what}: the newest is ${checkpoint.step}`);
  assert.ok(holds(checkpoint.path, checkpoint.step), `${what}: checkpoint ${checkpoint.step} holds other numbers`);
  for (const name of listCheckpoints(where)) assert.ok(holds(join(where, name), Number(name)), `${what}: ${name} is visible and not whole`);
  assert.ok(holds(join(where, String(OLD).padStart(12, '0')), OLD), `${what}: the one before is untouched`);
  const told = said.some(({ type }) => type === 'checkpoint');
  if (told) assert.equal(checkpoint.step, NEW, `${what}: what was told is there`);
  if (signal === null && !told)
    assert.ok(
      said.some(({ type }) => type === 'warning'),
      `${what}: a failure is a warning`,
    );
  await writeCheckpoint(where, 'torture', [policyOf(LATER, LATER)]);
  const names = readdirSync(where);
  assert.deepEqual(
    names.filter((name) => name.endsWith(UNFINISHED)),
    [],
    `${what}: the next writer sweeps`,
  );
  assert.ok(names.length <= 3 && holds(newestCheckpoint(where).checkpoint.path, LATER), `${what}: and writes`);
}

describe('a checkpoint under a failing disk', () => {
  before(async () => {
    for (const step of BEFORE) await writeCheckpoint(template, 'torture', [policyOf(step, step)]);
    const compiled = join(folder, 'compiled');
    mkdirSync(compiled);
    child = compileInto(compiled, fileURLToPath(new URL('./checkpoint-child.ts', import.meta.url)));
  });

  for (const fault of IO_FAULTS) {
    it(`is whole or not there, wherever it strikes: ${fault}`, WATCHDOG, async () => {
      // Goal: FAULTS 38 and 39: for every file call of a write, the newest checkpoint loads and is the old or the new one, bit by bit.
      let calls = 0;
      for (let at = 1; ; at++) {
        assert.ok(at < MAX_CALLS, 'a write ends');
        const where = join(folder, `${fault}-${at}`);
        cpSync(template, where, { recursive: true });
        const outcome = await writeUnder(where, fault, at);
        await judge(where, fault, at, outcome);
        rmSync(where, { recursive: true });
        if (outcome.fired) {
          calls++;
          continue;
        }
        // Beyond the last call: an undisturbed write.
        assert.deepEqual(
          outcome.said.map(({ type }) => type),
          ['checkpoint'],
        );
        break;
      }
      assert.ok(calls > 15, `only ${calls} calls were disturbed: the library is not in force`);
    });
  }
});

describe('a damaged checkpoint', () => {
  it(
    'is refused whichever byte of whichever file is flipped or cut off, the older one is used, and a warning says so',
    WATCHDOG,
    async () => {
      // Goal: FAULTS 40: no damage is ever loaded, and the resuming learner tells what it passed over.
      const where = join(folder, 'flips');
      cpSync(join(folder, 'template'), where, { recursive: true });
      const newest = join(where, String(OLD).padStart(12, '0'));
      const warnings: string[] = [];
      const damaged = (name: string, how: string): void => {
        warnings.length = 0;
        const resume = openResume(where, (message) => warnings.push(message));
        assert.ok(resume.path?.endsWith('2000'), `${name} ${how}: ${resume.path} is used`);
        assert.equal(warnings.length, 1, `${name} ${how}`);
        assert.ok(warnings[0]?.includes(newest) && warnings[0].includes(name), warnings[0]);
      };
      for (const name of readdirSync(newest)) {
        const path = join(newest, name);
        const whole = readFileSync(path);
        const text = name.endsWith('.json');
        for (let at = 0; at < whole.length; at++) {
          // White space between the words of JSON means nothing.
          if (text && /\s/.test(String.fromCharCode(whole[at] as number))) continue;
          const flipped = Buffer.from(whole);
          flipped[at] = (flipped[at] as number) ^ (1 << (at % 8));
          writeFileSync(path, flipped);
          damaged(name, `bit ${at % 8} of byte ${at}`);
        }
        // The line feed at the end of the manifest may go.
        for (let length = 0; length < whole.length - (text ? 1 : 0); length++) {
          writeFileSync(path, whole);
          truncateSync(path, length);
          damaged(name, `cut to ${length}`);
        }
        rmSync(path);
        damaged(name, 'gone');
        writeFileSync(path, whole);
      }
      assert.ok(newestCheckpoint(where).checkpoint.step === OLD, 'put right, it is the newest again');
    },
  );

  it('does not keep its successors from being written and kept, even under its own name', WATCHDOG, async () => {
    // Goal: after a fall-back the run writes on: its new checkpoints are neither taken for written nor pruned in favour of damaged ones.
    const where = join(folder, 'successors');
    cpSync(template, where, { recursive: true });
    const spoil = (step: number): void => truncateSync(join(where, String(step).padStart(12, '0'), 'manifest.json'), 10);
    for (const step of BEFORE.slice(1)) spoil(step);
    assert.equal(newestCheckpoint(where).checkpoint.step, 1000);
    for (const step of [1100, 1200, 1300, 2000]) {
      assert.equal((await writeCheckpoint(where, 'torture', [policyOf(step, step)])).written, true);
      assert.equal(newestCheckpoint(where).checkpoint.step, step);
    }
    assert.ok(holds(newestCheckpoint(where).checkpoint.path, 2000));
    const hopeless = join(folder, 'hopeless');
    cpSync(template, hopeless, { recursive: true });
    for (const step of BEFORE) truncateSync(join(hopeless, String(step).padStart(12, '0'), 'manifest.json'), 10);
    // A run that began anew: its steps are below those of the damaged ones.
    await writeCheckpoint(hopeless, 'torture', [policyOf(500, 500)]);
    assert.equal(newestCheckpoint(hopeless).checkpoint.step, 500);
  });
});
