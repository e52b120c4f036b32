// Goal: what learner modes remember survives a checkpoint, and checkpoints with, without and of other modes go together in every direction.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { TERMINATED } from '../../harness/contract/frame-flags.js';
import { type PpoConfig, ppoSchema } from '../../harness/contract/ppo-config.js';
import { loadCheckpoint, restorePolicy } from '../../harness/learner/checkpoint-read.js';
import { writeCheckpoint } from '../../harness/learner/checkpoint-write.js';
import { createLearnerModes, type LearnerModes } from '../../harness/learner/learner-modes.js';
import type { Policy } from '../../harness/learner/policy.js';
import { openResume } from '../../harness/learner/resume.js';
import { policyOf } from './made-policy.js';
import { near } from './near.js';

type Modes = Pick<PpoConfig, 'envWeights' | 'rewardNorm' | 'exploration'>;

const folder = mkdtempSync(join(tmpdir(), 'envladder-modes-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const fresh = (name: string): string => {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
};

function policyWith(modes: Modes, seed = 3): Policy {
  return { ...policyOf(seed, 100 * seed), modes: createLearnerModes(ppoSchema.parse(modes)) };
}

const modesOf = ({ modes }: Policy): LearnerModes => {
  assert.ok(modes);
  return modes;
};

/** Feeds every row a few episodes of its own. */
function live(modes: LearnerModes, rows: number): void {
  for (let row = 0; row < rows; row++) {
    for (let episode = 0; episode < 5; episode++) {
      modes.reward(row, 0, row + episode);
      modes.reward(row, TERMINATED, 2 * row - episode);
      const episodeReturn = 3 * row + (row % 2) * episode;
      modes.endEpisodes({
        episodeCount: 1,
        episodeRow: Int32Array.of(row),
        episodeReturn: Float64Array.of(episodeReturn),
      });
    }
  }
}

const ALL: Modes[] = [
  { envWeights: 'account', rewardNorm: 'account' },
  { rewardNorm: 'return-std', exploration: 'temperature' },
  { exploration: 'account' },
  { rewardNorm: 'return-std' },
  { envWeights: 'importance' },
];

describe('memory of learner modes', () => {
  for (const modes of ALL) {
    it(`comes back from a checkpoint: ${JSON.stringify(modes)}`, async () => {
      // Goal: scores by env id and scales by task go on, whatever order the envs come back in.
      const before = policyWith(modes);
      modesOf(before).addRows(3, 100, 'easy');
      modesOf(before).addRows(2, 200, 'hard');
      live(modesOf(before), 5);
      const { path } = await writeCheckpoint(fresh(`round-${ALL.indexOf(modes)}`), 'run', [before]);
      const stored = loadCheckpoint(path).policies[0];
      assert.ok(stored !== undefined);
      const now = policyWith(modes, 9);
      assert.deepEqual(restorePolicy(now, stored, path), []);
      modesOf(now).addRows(2, 200, 'hard');
      modesOf(now).addRows(3, 100, 'easy');
      for (const [old, row] of [3, 4, 0, 1, 2].entries()) {
        const [was, is] = [row, old];
        near(modesOf(now).scores?.score(is) ?? 0, modesOf(before).scores?.score(was) ?? 0, 1e-6, `score of row ${was}`);
        near(modesOf(now).rewardScale(is), modesOf(before).rewardScale(was), 1e-6, `scale of row ${was}`);
        near(modesOf(now).reward(is, 0, 7), modesOf(before).reward(was, 0, 7), 1e-5, `next reward of row ${was}`);
      }
    });
  }

  it('of envs that have not come yet goes through the checkpoints written meanwhile', async () => {
    // Goal: a run resumed at its first tier must not forget the envs of the later ones.
    const modes: Modes = { envWeights: 'account', rewardNorm: 'return-std' };
    const before = policyWith(modes);
    modesOf(before).addRows(4, 0, 'easy');
    modesOf(before).addRows(4, 4, 'hard');
    live(modesOf(before), 8);
    const first = await writeCheckpoint(fresh('later'), 'run', [before]);
    const middle = policyWith(modes, 5);
    restorePolicy(middle, loadCheckpoint(first.path).policies[0] as never, first.path);
    middle.counters.trained = 999;
    modesOf(middle).addRows(2, 0, 'easy');
    const second = await writeCheckpoint(fresh('later'), 'run', [middle]);
    const last = policyWith(modes, 6);
    restorePolicy(last, loadCheckpoint(second.path).policies[0] as never, second.path);
    modesOf(last).addRows(4, 4, 'hard');
    modesOf(last).addRows(4, 0, 'easy');
    for (let row = 0; row < 8; row++) {
      const was = (row + 4) % 8;
      near(modesOf(last).scores?.score(row) ?? 0, modesOf(before).scores?.score(was) ?? 0, 1e-6, `score of row ${was}`);
      near(modesOf(last).rewardScale(row), modesOf(before).rewardScale(was), 1e-6, `scale of row ${was}`);
    }
  });

  it('stands in no checkpoint of a policy without modes, which is what it was before there were any', async () => {
    // Goal: format 1 as ever: four files, normaliser null.
    const { path } = await writeCheckpoint(fresh('plain'), 'run', [policyOf(4, 10)]);
    assert.deepEqual(readdirSync(path).sort(), ['manifest.json', 'policy-0.first.f32', 'policy-0.second.f32', 'policy-0.weights.f32']);
    assert.match(readFileSync(join(path, 'manifest.json'), 'utf8'), /"normaliser": null/);
    assert.equal(loadCheckpoint(path).policies[0]?.modes, null);
    const off = { envWeights: 'off', rewardNorm: 'off', exploration: 'off' } as const;
    assert.equal(createLearnerModes(ppoSchema.parse(off)), null);
  });

  it('starts fresh, with a warning that names them, where modes were switched on, off or over', async () => {
    // Goal: a resumed run with other modes goes on, and its owner knows what that means.
    const plain = await writeCheckpoint(fresh('from-plain'), 'run', [policyOf(3, 10)]);
    const scaled = policyWith({ rewardNorm: 'return-std', envWeights: 'account' });
    modesOf(scaled).addRows(2, 0, 'easy');
    live(modesOf(scaled), 2);
    const kept = await writeCheckpoint(fresh('from-scaled'), 'run', [scaled]);
    const resume = (path: string, policy: Policy): string => {
      const warnings: string[] = [];
      openResume(path, (message) => warnings.push(message)).restore(policy);
      return warnings.join();
    };
    assert.match(resume(plain.path, policyWith({ rewardNorm: 'account' })), /reward_norm was 'off', is 'account'/);
    assert.match(resume(kept.path, policyOf(5, 0)), /env_weights was 'account', is 'off'; reward_norm was 'return-std', is 'off'/);
    assert.equal(resume(plain.path, policyOf(5, 0)), '');
    const over = policyWith({ rewardNorm: 'account', envWeights: 'account' });
    assert.match(resume(kept.path, over), /reward_norm was 'return-std', is 'account'/);
    modesOf(over).addRows(2, 0, 'easy');
    near(modesOf(over).scores?.score(1) ?? 0, modesOf(scaled).scores?.score(1) ?? 1, 1e-6, 'scores mean the same and stay');
    assert.equal(modesOf(over).reward(1, 0, 5), 0, 'moments of another kind do not: the first reward is its own mean');
    // Account, then return-std before the envs had come back, then account again: what the first one knew is too old.
    const first = policyWith({ rewardNorm: 'account' });
    modesOf(first).addRows(2, 0, 'easy');
    live(modesOf(first), 2);
    const old = await writeCheckpoint(fresh('chain-1'), 'run', [first]);
    const between = policyWith({ rewardNorm: 'return-std' });
    resume(old.path, between);
    const newer = await writeCheckpoint(fresh('chain-2'), 'run', [between]);
    const again = policyWith({ rewardNorm: 'account' });
    resume(newer.path, again);
    modesOf(again).addRows(2, 0, 'easy');
    assert.equal(modesOf(again).reward(1, 0, 5), 0, 'the first reward of a fresh env');
  });

  it('is refused when a bit of it is damaged', async () => {
    // Goal: the modes file is covered by the manifest like every other.
    const policy = policyWith({ envWeights: 'account', rewardNorm: 'account' });
    modesOf(policy).addRows(4, 0, 'easy');
    live(modesOf(policy), 4);
    const { path } = await writeCheckpoint(fresh('damage'), 'run', [policy]);
    const file = join(path, 'policy-0.modes.f32');
    const whole = readFileSync(file);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: whole.length - 1 }), fc.integer({ min: 0, max: 7 }), fc.boolean(), (at, bit, cut) => {
        const data = Buffer.from(whole);
        data[at] = (data[at] as number) ^ (1 << bit);
        writeFileSync(file, cut ? data.subarray(0, at) : data);
        assert.throws(() => loadCheckpoint(path), /policy-0\.modes\.f32/);
      }),
      { numRuns: 60 },
    );
    writeFileSync(file, whole);
    assert.ok(loadCheckpoint(path).policies[0]?.modes !== null);
  });
});
