import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StepResult } from '../../harness/contract/env.js';
import { QUARANTINED } from '../../harness/contract/frame-flags.js';
import { constructSlots } from '../../harness/envs/construct-slots.js';
import { publishClaimed, stepClaimed } from '../../harness/envs/step-claimed.js';
import { brokenKind, type Hooks, openRange } from './broken-kinds.js';

const BAD_ENV = 101;
const ROUNDS = 5;

/** Breaks slot 1 of three in its third step. */
const inThirdStep = (bad: (result: StepResult, view: Float32Array) => unknown): Hooks => {
  let steps = 0;
  return {
    step: (slot, result) => (slot.envId === BAD_ENV && ++steps === 3 ? bad(result, slot.obs.vector as Float32Array) : result),
  };
};
const inReset = (bad: (view: Float32Array) => unknown): Hooks => ({
  reset: (slot) => (slot.envId === BAD_ENV ? bad(slot.obs.vector as Float32Array) : undefined),
});
const boom = (): never => {
  throw new TypeError('boom');
};

interface Case {
  readonly name: string;
  readonly hooks: Hooks;
  readonly code: 'contract' | 'env-failed';
  readonly operation: string;
  /** In the message, in this order. */
  readonly says: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: '3 of 4 floats',
    hooks: inThirdStep((r) => ({ ...r, obs: { vector: new Float32Array(3) } })),
    code: 'contract',
    operation: 'step',
    says: ['vector is Float32Array[3]', 'must be a Float32Array[4]'],
  },
  {
    name: 'float64 for float32',
    hooks: inThirdStep((r) => ({ ...r, obs: { vector: new Float64Array(4) } })),
    code: 'contract',
    operation: 'step',
    says: ['vector is Float64Array[4]', 'must be a Float32Array[4]'],
  },
  {
    name: 'a plain array for float32',
    hooks: inThirdStep((r) => ({ ...r, obs: { vector: [1, 2, 3, 4] } })),
    code: 'contract',
    operation: 'step',
    says: ['vector is array[4]'],
  },
  {
    name: 'an observation without its key',
    hooks: inThirdStep((r) => ({ ...r, obs: {} })),
    code: 'contract',
    operation: 'step',
    says: ['vector is undefined'],
  },
  {
    name: 'an undeclared key',
    hooks: inThirdStep((r) => ({ ...r, obs: { vector: new Float32Array(4), extra: new Float32Array(4) } })),
    code: 'contract',
    operation: 'step',
    says: ['extra', 'is not a declared key (vector)'],
  },
  {
    name: 'reward [1]',
    hooks: inThirdStep((r) => ({ ...r, reward: [1] })),
    code: 'contract',
    operation: 'step',
    says: ['reward is array[1]', 'must be a finite number'],
  },
  {
    name: 'reward as bigint',
    hooks: inThirdStep((r) => ({ ...r, reward: 1n })),
    code: 'contract',
    operation: 'step',
    says: ['reward is bigint 1n', 'must be a finite number'],
  },
  {
    name: 'reward undefined',
    hooks: inThirdStep((r) => ({ ...r, reward: undefined })),
    code: 'contract',
    operation: 'step',
    says: ['reward is undefined'],
  },
  {
    name: 'reward NaN',
    hooks: inThirdStep((r) => ({ ...r, reward: Number.NaN })),
    code: 'contract',
    operation: 'step',
    says: ['reward is NaN'],
  },
  {
    name: 'reward infinite',
    hooks: inThirdStep((r) => ({ ...r, reward: -1 / 0 })),
    code: 'contract',
    operation: 'step',
    says: ['reward is -Infinity'],
  },
  {
    name: 'terminated as a number',
    hooks: inThirdStep((r) => ({ ...r, terminated: 1 })),
    code: 'contract',
    operation: 'step',
    says: ['terminated is 1', 'must be true or false'],
  },
  {
    name: 'truncated left out',
    hooks: inThirdStep(({ reward, terminated }) => ({ reward, terminated })),
    code: 'contract',
    operation: 'step',
    says: ['truncated is undefined'],
  },
  { name: 'no result', hooks: inThirdStep(() => undefined), code: 'contract', operation: 'step', says: ['result is undefined'] },
  { name: 'a promise', hooks: inThirdStep((r) => Promise.resolve(r)), code: 'contract', operation: 'step', says: ['result is a promise'] },
  {
    name: 'NaN in the observation',
    hooks: inThirdStep((r, view) => {
      view[2] = Number.NaN;
      return r;
    }),
    code: 'contract',
    operation: 'step',
    says: ['vector[2] is NaN', 'must be a finite number'],
  },
  {
    name: 'an observation out of bounds',
    hooks: inThirdStep((r, view) => {
      view[3] = 11;
      return r;
    }),
    code: 'contract',
    operation: 'step',
    says: ['vector[3] is 11', 'must lie in [-10, 10]'],
  },
  {
    name: 'a throw in step',
    hooks: inThirdStep(boom),
    code: 'env-failed',
    operation: 'step',
    says: ['step threw TypeError: boom', 'step 3'],
  },
  {
    name: 'a thrown string',
    hooks: inThirdStep(() => {
      throw 'no error object';
    }),
    code: 'env-failed',
    operation: 'step',
    says: ['step threw string "no error object"'],
  },
  { name: 'a throw in reset', hooks: inReset(boom), code: 'env-failed', operation: 'reset', says: ['reset threw TypeError: boom'] },
  {
    name: 'a reset of a wrong shape',
    hooks: inReset(() => ({ obs: { vector: new Float32Array(5) } })),
    code: 'contract',
    operation: 'reset',
    says: ['vector is Float32Array[5]'],
  },
  {
    name: 'a reset to NaN',
    hooks: inReset((view) => {
      view[0] = Number.NaN;
    }),
    code: 'contract',
    operation: 'reset',
    says: ['vector[0] is NaN'],
  },
  { name: 'a reset that returns a number', hooks: inReset(() => 7), code: 'contract', operation: 'reset', says: ['result is 7'] },
  {
    name: 'a throw in the constructor',
    hooks: { construct: (slot) => (slot.envId === BAD_ENV ? boom() : undefined) },
    code: 'env-failed',
    operation: 'construct',
    says: ['construct threw TypeError: boom'],
  },
  {
    name: 'a constructor that rejects',
    hooks: {
      construct: async (slot) => {
        if (slot.envId === BAD_ENV) boom();
      },
    },
    code: 'env-failed',
    operation: 'construct',
    says: ['construct threw TypeError: boom'],
  },
];

describe('an env that breaks the contract', () => {
  for (const { name, hooks, code, operation, says } of CASES) {
    it(`${name}: is named and quarantined alone`, { timeout: 10_000 }, async () => {
      // Goal: a typed error names env id, kind, operation, key and value; the neighbours' frames go on.
      const { port, table, failures } = openRange(brokenKind(hooks), 3);
      await constructSlots(table);
      for (let round = 0; round < ROUNDS; round++) {
        port.claim(3);
        stepClaimed(table);
        publishClaimed(table, 'full');
      }
      assert.equal(failures.length, 1);
      const { envId, error } = failures[0] as (typeof failures)[number];
      assert.equal(envId, BAD_ENV);
      assert.equal(error.code, code, error.message);
      assert.equal(error.detail?.envId, BAD_ENV);
      assert.equal(error.detail?.kind, 'broken');
      assert.equal(error.detail?.operation, operation);
      let at = 0;
      for (const part of [`env ${BAD_ENV} (broken)`, ...says]) {
        const found = error.message.indexOf(part, at);
        assert.ok(found >= 0, `'${part}' is missing in: ${error.message}`);
        at = found;
      }
      assert.equal((port.lastFlags[1] as number) & QUARANTINED, QUARANTINED);
      assert.deepEqual([port.published[0], port.published[2]], [ROUNDS, ROUNDS]);
    });
  }
});
