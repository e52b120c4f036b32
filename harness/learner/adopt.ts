// What a restarted learner does before it says `ready`: takes in the blocks that are live, and drops as `learner-died` every frame that the
// learners before it took and told nothing about (pending in their rollouts, or taken after their last snapshot). So the sums balance from
// the first snapshot on. The first frame of each row starts anew: the observation before it died with the old learner.
import { EnvladderError } from '../contract/errors.js';
import type { LearnerStart } from '../contract/messages.js';
import type { Segment } from '../memory/interface.js';
import { accountedFrames, type Balance } from './balance.js';
import type { SpaceGroup } from './space-group.js';

/** The place of a block: its segment, its mix entry and the group that reads it. */
export type FindBlock = (
  worker: number,
  block: number,
) => { readonly segment: Segment; readonly entry: number; readonly group: SpaceGroup };

/**
 * Adopts the blocks of `start`. Throws `learner-died` when the base tells of more frames than were ever taken: it belongs to another run,
 * or a block is missing in `adopt` and `lost`.
 */
export function adoptBlocks(start: LearnerStart, groups: readonly SpaceGroup[], find: FindBlock, balance: Balance): void {
  for (const [worker, block] of start.adopt) {
    const { segment, entry, group } = find(worker, block);
    group.adopt(segment, block, entry);
  }
  for (const [worker, block] of start.lost ?? []) {
    const { segment, group } = find(worker, block);
    group.addLost(segment, block);
  }
  const taken = groups.reduce((sum, group) => sum + group.scan().taken, 0);
  const told = accountedFrames(balance);
  if (taken < told) {
    throw new EnvladderError(
      'learner-died',
      `the learner cannot count on from its predecessor: ${told} frames have a fate, only ${taken} were taken from ${start.adopt.length} live and ${start.lost?.length ?? 0} lost blocks. A block is missing, or the counts are of another run`,
      { detail: { taken, told, life: start.life } },
    );
  }
  balance.dropped['learner-died'] += taken - told;
}
