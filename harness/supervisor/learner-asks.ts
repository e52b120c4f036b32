// What the supervisor waits to hear from the learner: snapshots, the first batch of a tier, the letting go of a segment. A learner that is
// started again is asked again, so that a question outlives the process it was put to. Bounded by the questions of one caller at a time.
import type { FromLearner, ToLearner } from '../contract/messages.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import { type Deferred, deferred } from './deferred.js';

export interface LearnerAsks {
  snapshot(): Promise<LearnerSnapshot>;
  /** CLOCK_MONOTONIC ms of the tier's first batch. */
  firstBatch(tier: number): Promise<number>;
  /** Resolves when the learner reads the segment of `worker` at `path` and no other. */
  replaced(worker: number, path: string): Promise<void>;
  /** Those who ask for the same reason share one answer, so that a learner that never answers holds one question, not each. */
  checkpoint(reason: string): Promise<string>;
  hear(message: FromLearner): void;
  /**
   * A new life is up and counts on from `batchesSoFar`. It was started with the segments of now and reads all blocks, so its first batch
   * answers for every tier.
   */
  again(batchesSoFar: number): void;
  /** Nobody will answer any more. */
  end(error: Error): void;
}

export function createLearnerAsks(send: (message: ToLearner) => void): LearnerAsks {
  const snapshots = new Map<number, Deferred<LearnerSnapshot>>();
  const batches = new Map<number, Deferred<number>>();
  const replacements = new Map<number, Deferred<void>>();
  const checkpoints: { readonly reason: string; readonly path: Deferred<string> }[] = [];
  let nextId = 1;
  let over: Error | null = null;
  /** Batches of the lives before, while a restarted learner has taken none. */
  let batchesBefore: number | null = null;

  function ask<Answer>(into: Map<number, Deferred<Answer>>, key: number): Promise<Answer> {
    const answer = deferred<Answer>();
    if (over !== null) answer.reject(over);
    else into.set(key, answer);
    return answer.promise;
  }

  /** Any batch after the restart stands for the tier's first, which the dead life may not have told any more. */
  function seeBatches({ batches: made, monotonicMs }: LearnerSnapshot): void {
    if (batchesBefore === null || made <= batchesBefore) return;
    batchesBefore = null;
    for (const [tier, answer] of batches) {
      batches.delete(tier);
      answer.resolve(monotonicMs);
    }
  }

  return {
    snapshot() {
      const id = nextId++;
      const answer = ask(snapshots, id);
      if (over === null) send({ type: 'snapshot', id });
      return answer;
    },
    // Groups of one tier wake one after the other: the first frame of any of them answers.
    firstBatch: (tier) => batches.get(tier)?.promise ?? ask(batches, tier),
    replaced(worker, path) {
      const answer = ask(replacements, worker);
      if (over === null) send({ type: 'replace-segment', worker, path });
      return answer;
    },
    checkpoint(reason) {
      const asked = checkpoints.find((each) => each.reason === reason);
      if (asked !== undefined) return asked.path.promise;
      const path = deferred<string>();
      if (over !== null) path.reject(over);
      else {
        checkpoints.push({ reason, path });
        send({ type: 'checkpoint', reason });
      }
      return path.promise;
    },
    hear(message) {
      switch (message.type) {
        case 'snapshot':
          snapshots.get(message.id)?.resolve(message.snapshot);
          snapshots.delete(message.id);
          seeBatches(message.snapshot);
          return;
        case 'stats':
          seeBatches(message.snapshot);
          return;
        case 'first-batch':
          batches.get(message.tier)?.resolve(message.monotonicMs);
          batches.delete(message.tier);
          return;
        case 'segment-replaced':
          replacements.get(message.worker)?.resolve();
          replacements.delete(message.worker);
          return;
        case 'checkpoint':
          for (const { path } of checkpoints.splice(0)) path.resolve(message.path);
          return;
        default:
      }
    },
    again(batchesSoFar) {
      batchesBefore = batchesSoFar;
      for (const id of snapshots.keys()) send({ type: 'snapshot', id });
      for (const answer of replacements.values()) answer.resolve();
      replacements.clear();
      for (const { reason } of checkpoints) send({ type: 'checkpoint', reason });
    },
    end(error) {
      over = error;
      for (const answer of [...snapshots.values(), ...batches.values(), ...checkpoints.map(({ path }) => path)]) answer.reject(error);
      // Nobody reads the old memory any more either.
      for (const answer of replacements.values()) answer.resolve();
    },
  };
}
