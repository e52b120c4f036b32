// Plans and counts that ladder tests start from.

import type { EntryMessage } from '../../harness/contract/messages.js';
import { type Plan, planSchema, resolvePlan } from '../../harness/contract/plan.js';
import type { LearnerSnapshot } from '../../harness/contract/snapshot.js';
import type { Spaces } from '../../harness/contract/spaces.js';

export function makePlan(fields: Record<string, unknown> = {}): Plan {
  return resolvePlan(planSchema.parse({ name: 'test', tiers: [4, 8], seconds: 0.05, workers: 1, mix: { cartpole: 1 }, ...fields }), 2);
}

export const VECTOR: Spaces = {
  observation: { vector: { dtype: 'f32', shape: [4], low: -10, high: 10 } },
  action: { type: 'discrete', n: 2 },
};

export const PIXELS: Spaces = {
  observation: { rgb: { dtype: 'u8', shape: [224, 224, 3], low: 0, high: 255 } },
  action: { type: 'discrete', n: 5 },
};

export function entry(name: string, spaces: Spaces = VECTOR): EntryMessage {
  return { name, kind: name, config: {}, spaces, isolation: 'inline', deadlines: { construct: 30, reset: 30, step: 30, close: 30 } };
}

export function snapshot(fields: Partial<LearnerSnapshot> = {}): LearnerSnapshot {
  return {
    monotonicMs: 0,
    taken: 0,
    trained: 0,
    evaluated: 0,
    superseded: 0,
    dropped: { reset: 0, abandoned: 0, quarantined: 0, unfinished: 0, 'learner-died': 0, 'bad-update': 0 },
    pending: 0,
    published: 0,
    torn: 0,
    outOfOrder: 0,
    bytesCopied: 0,
    batches: 0,
    batchFill: 0,
    updates: 0,
    policyVersion: 0,
    phaseSeconds: { wait: 0, collect: 0, infer: 0, act: 0, store: 0, train: 0 },
    kinds: {},
    losses: {},
    latency: { valueUs: [], count: [], maxUs: 0 },
    response: { valueUs: [], count: [], maxUs: 0 },
    lag: { valueUs: [], count: [], maxUs: 0 },
    ...fields,
  };
}
