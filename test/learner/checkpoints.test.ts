import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { EnvladderError } from '../../harness/contract/errors.js';
import { loadCheckpoint, newestCheckpoint, restorePolicy } from '../../harness/learner/checkpoint-read.js';
import { writeCheckpoint } from '../../harness/learner/checkpoint-write.js';
import { createCheckpointer } from '../../harness/learner/checkpointer.js';
import { openResume } from '../../harness/learner/resume.js';
import { until } from '../fixtures/until.js';
import { numbersOf, policyOf } from './made-policy.js';

const folder = mkdtempSync(join(tmpdir(), 'envladder-checkpoints-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const fresh = (name: string): string => {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
};

const isBad = (error: unknown): boolean => error instanceof EnvladderError && error.code === 'bad-checkpoint';

describe('checkpoints', () => {
  it('bring back weights, moments, generator and counters bit by bit', async () => {
    // Goal: a resumed run goes on where the old one stopped.
    const policies = [policyOf(3, 100), policyOf(4, 28, 'other')];
    const { path } = await writeCheckpoint(fresh('round'), 'run-1', policies);
    assert.ok(path.endsWith('000000000128'), path);
    const checkpoint = loadCheckpoint(path);
    assert.equal(checkpoint.step, 128);
    assert.equal(checkpoint.runId, 'run-1');
    policies.forEach((policy, i) => {
      const blank = policyOf(9, 0, policy.signature);
      const stored = checkpoint.policies[i];
      assert.ok(stored !== undefined, 'both policies are there');
      restorePolicy(blank, stored, path);
      assert.equal(numbersOf(blank), numbersOf(policy));
      assert.notEqual(blank.noiseKey, policy.noiseKey, 'a resumed policy does not repeat its old draws');
    });
  });

  it('refuse any flipped bit and any cut, whatever the file, and say which', async () => {
    // Goal: not one damaged number is ever used.
    const { path } = await writeCheckpoint(fresh('damage'), 'run-1', [policyOf(5, 10)]);
    const files = readdirSync(path);
    assert.equal(files.length, 4);
    fc.assert(
      fc.property(
        fc.constantFrom(...files),
        fc.integer({ min: 0, max: 9999 }).map((n) => n / 10_000),
        fc.integer({ min: 0, max: 7 }),
        fc.boolean(),
        (name, where, bit, cut) => {
          const copy = join(folder, 'copy');
          rmSync(copy, { recursive: true, force: true });
          cpSync(path, copy, { recursive: true });
          const data = readFileSync(join(copy, name));
          const at = Math.floor(where * data.length);
          if (cut) truncateSync(join(copy, name), at);
          else {
            data[at] = (data[at] as number) ^ (1 << bit);
            writeFileSync(join(copy, name), data);
          }
          // White space of the manifest carries nothing: a flip that leaves the same JSON is no damage.
          try {
            const same = loadCheckpoint(copy);
            assert.equal(name, 'manifest.json');
            assert.deepEqual(same.policies[0]?.state, loadCheckpoint(path).policies[0]?.state);
          } catch (error) {
            assert.ok(isBad(error), String(error));
            assert.ok((error as Error).message.includes(name), `${(error as Error).message} names ${name}`);
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  it('fall back to the newest one that holds and say why the others do not', async () => {
    // Goal: one bad write costs minutes, not the run; a missing file counts as damage.
    const where = fresh('fallback');
    const policy = policyOf(6, 1000);
    const paths: string[] = [];
    for (const trained of [1000, 2000, 3000]) {
      policy.counters.trained = trained;
      paths.push((await writeCheckpoint(where, 'run-1', [policy])).path);
    }
    unlinkSync(join(paths[2] as string, 'policy-0.first.f32'));
    truncateSync(join(paths[1] as string, 'manifest.json'), 40);
    const { checkpoint, skipped } = newestCheckpoint(where);
    assert.equal(checkpoint.step, 1000);
    assert.deepEqual(
      skipped.map(({ path }) => path),
      [paths[2], paths[1]],
    );
    assert.match(skipped[0]?.reason ?? '', /policy-0\.first\.f32 cannot be read/);
    assert.match(skipped[1]?.reason ?? '', /manifest\.json is not readable JSON/);
    rmSync(join(paths[0] as string, 'manifest.json'));
    assert.throws(
      () => newestCheckpoint(where),
      (error) => isBad(error) && /none is valid/.test((error as Error).message),
    );
    assert.throws(
      () => newestCheckpoint(fresh('empty')),
      (error) => isBad(error) && /no checkpoint here/.test((error as Error).message),
    );
  });

  it('keep the newest three, ignore and sweep what was never finished, accept a run folder', async () => {
    // Goal: disk use is bounded; a crash while writing leaves nothing that could be loaded.
    const run = fresh('run');
    const where = fresh('run/checkpoints');
    mkdirSync(join(where, '000000009999-tmp'));
    const policy = policyOf(7, 0);
    for (let trained = 1; trained <= 5; trained++) {
      policy.counters.trained = trained;
      assert.equal((await writeCheckpoint(where, 'run-1', [policy])).written, true);
      assert.equal((await writeCheckpoint(where, 'run-1', [policy])).written, false, 'the same step is not written twice');
    }
    assert.deepEqual(readdirSync(where).sort(), ['000000000003', '000000000004', '000000000005']);
    assert.equal(newestCheckpoint(run).checkpoint.step, 5);
  });

  it('are refused by a policy of another shape, with both shapes in the message', async () => {
    // Goal: resuming with other networks is an explained mistake, not a crash or a silent half-fit.
    const { path } = await writeCheckpoint(fresh('shape'), 'run-1', [policyOf(8, 10)]);
    const warnings: string[] = [];
    const other = openResume(path, (message) => warnings.push(message));
    assert.throws(
      () => other.restore(policyOf(1, 0, 's', [5])),
      (error) => isBad(error) && /\[3,5\].*\[3,4\]/.test((error as Error).message),
    );
    const stranger = openResume(path, (message) => warnings.push(message));
    stranger.restore(policyOf(1, 0, 'unknown'));
    assert.match(warnings.join(), /no policy for 'unknown'/);
    assert.throws(() => stranger.check(), isBad);
  });

  it('are only warned about when the disk does not take them', async () => {
    // Goal: a full or read-only disk does not end the training.
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    const sent: string[] = [];
    const checkpointer = createCheckpointer({
      folder: join(file, 'inside'),
      runId: 'run-1',
      policies: [policyOf(1, 1)],
      intervalSeconds: 1,
      nowMs: () => 0,
      send: (message) => sent.push(message.type),
    });
    await checkpointer.finish('stop', 10_000);
    assert.deepEqual(sent, ['warning']);
  });

  it('come early once, then at their interval', async () => {
    // Goal: a learner that dies in its first minute resumes from something.
    let seconds = 0;
    const at: number[] = [];
    const policy = policyOf(1, 1);
    const checkpointer = createCheckpointer({
      folder: join(folder, 'early'),
      runId: 'run-1',
      policies: [policy],
      intervalSeconds: 60,
      nowMs: () => seconds * 1000,
      send: (message) => void (message.type === 'checkpoint' && at.push(seconds)),
    });
    for (seconds = 1; seconds <= 140; seconds++) {
      policy.counters.trained++;
      const told = at.length;
      checkpointer.writeIfDue();
      if (seconds === 10 || seconds === 70 || seconds === 130) await until(() => at.length > told);
    }
    assert.deepEqual(at, [10, 70, 130]);
  });
});
