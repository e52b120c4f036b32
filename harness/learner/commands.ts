// What the supervisor tells a running learner to do, obeyed between two batches: take in the blocks of a tier, give up blocks, take an env
// in again, read a replaced segment, write a checkpoint. Also tells the supervisor when the first frame of a tier has come.
import type { FromLearner, ToLearner } from '../contract/messages.js';
import type { FindBlock } from './adopt.js';
import type { Checkpointer } from './checkpointer.js';
import type { OpenSegments } from './open-segments.js';
import type { SpaceGroup } from './space-group.js';

/** Commands that wait for the end of a batch; the others are answered as they come. */
export type Command = Exclude<ToLearner, { type: 'start' | 'stop' | 'snapshot' | 'measure' }>;

export interface Commands {
  obey(command: Command): void;
  /** After each turn of `group`: reports the first batch of a tier. */
  sawTurn(group: SpaceGroup): void;
}

export interface CommandsOptions {
  readonly groups: readonly SpaceGroup[];
  readonly segments: OpenSegments;
  readonly find: FindBlock;
  readonly checkpointer: Checkpointer;
  /** Begins the latency histograms anew. */
  readonly beginLatency: () => void;
  readonly nowMs: () => number;
  readonly send: (message: FromLearner) => void;
}

export function createCommands({ groups, segments, find, checkpointer, beginLatency, nowMs, send }: CommandsOptions): Commands {
  /** The tier whose first frame is still to come, and from which row on its envs sit in each group. */
  let awaitedTier: number | null = null;
  const firstRow = new Map<SpaceGroup, number>();
  return {
    obey(command) {
      switch (command.type) {
        case 'grow':
          awaitedTier = command.tier;
          firstRow.clear();
          for (const [worker, block] of command.blocks) {
            const { segment, entry, group } = find(worker, block);
            if (!firstRow.has(group)) firstRow.set(group, group.reader.rows);
            group.add(segment, block, entry);
          }
          beginLatency();
          return;
        case 'drop':
          for (const [worker, block] of command.blocks) {
            const { segment, group } = find(worker, block);
            group.drop(segment, block);
          }
          return;
        case 'release':
          if (groups.some((group) => group.release(command.envId))) return;
          send({ type: 'warning', message: `env ${command.envId} is not read by the learner: there is nothing to release` });
          return;
        case 'replace-segment':
          segments.replace(command.worker, command.path, (from, to) => {
            for (const group of groups) group.replace(from, to);
          });
          send({ type: 'segment-replaced', worker: command.worker });
          return;
        case 'checkpoint':
          checkpointer.request(command.reason);
          return;
      }
    },
    sawTurn(group) {
      if (awaitedTier === null) return;
      const first = firstRow.get(group);
      if (first === undefined || !group.sawRowFrom(first)) return;
      send({ type: 'first-batch', tier: awaitedTier, monotonicMs: nowMs() });
      awaitedTier = null;
    },
  };
}
