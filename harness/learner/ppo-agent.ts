// The learning agent: settles frames into rollout rows, infers, samples, acts, and trains once enough rows are complete. An env whose row
// is complete waits, unanswered, for the update; after it the same observation is inferred again with the new policy.
import type { AutoresetMode } from '../contract/frame-flags.js';
import { QUARANTINED } from '../contract/frame-flags.js';
import { type ActionSpace, actionElements } from '../contract/spaces.js';
import type { BatchReader } from '../memory/interface.js';
import type { Agent } from './agent.js';
import { type Balance, dropPending } from './balance.js';
import { createRowIsFinite } from './finite-rows.js';
import { createGuardedUpdate, type GuardedUpdateOptions } from './guarded-update.js';
import { createObservationMoves } from './observation-moves.js';
import type { PhaseClock } from './phase-clock.js';
import type { Policy } from './policy.js';
import { type UpdateResult, updatePolicy } from './ppo-update.js';
import { createRollout, ROW } from './rollout.js';
import { ANSWER, FATE, retireRow, settleFrame, settleUnusable } from './settle.js';

export interface PpoAgentOptions {
  readonly policy: Policy;
  readonly action: ActionSpace;
  readonly autoreset: AutoresetMode;
  readonly batchLimit: number;
  readonly reader: BatchReader;
  readonly balance: Balance;
  readonly clock: PhaseClock;
  /** Awaited between minibatches, to serve messages. */
  readonly pause: () => Promise<void>;
  readonly onBadUpdate: GuardedUpdateOptions['onBadUpdate'];
  /** An env published an observation that is not finite; its frame is dropped. */
  readonly onUnusable: (envId: number) => void;
  /** Called as each update begins; test faults count with it. */
  readonly onUpdate?: (() => void) | undefined;
}

export function createPpoAgent(options: PpoAgentOptions): Agent {
  const { policy, action, autoreset, batchLimit, reader, balance, clock } = options;
  const { head, network, config } = policy;
  const { planes } = policy.plan;
  const { horizon } = config;
  const places = horizon + 1;
  const { actionLength } = head;
  const rollout = createRollout(horizon, planes, actionLength);
  const { dtype, length: envLength } = actionElements(action);
  const envActions = dtype === 'i32' ? new Int32Array(batchLimit * envLength) : new Float32Array(batchLimit * envLength);
  const fates = new Uint8Array(batchLimit);
  const rows = new Int32Array(batchLimit);
  const resets = new Int32Array(batchLimit);
  const { modes = null } = policy;
  const explore = modes?.exploration ?? null;
  const moves = createObservationMoves(policy.plan, reader, rollout, batchLimit);
  const { scratch } = moves;
  const noise = { key: policy.noiseKey, envId: 0, draw: 0 };
  const idle = new Float32Array(actionLength);
  const rowIsFinite = createRowIsFinite(policy.plan, reader);
  const guarded = createGuardedUpdate({ policy, onBadUpdate: options.onBadUpdate });
  let complete: number[] = [];
  let liveRows = 0;
  let updates = 0;
  let losses: Readonly<Record<string, number>> = {};

  const settle = (count: number): void => {
    const { rowOf, flags, reward } = reader;
    for (let i = 0; i < count; i++) {
      const row = rowOf[i] as number;
      const wasLive = rollout.state[row] === ROW.open || rollout.state[row] === ROW.ended;
      const before = rollout.length[row];
      const frameFlags = flags[i] as number;
      if ((frameFlags & QUARANTINED) === 0 && !rowIsFinite(i, frameFlags)) {
        fates[i] = settleUnusable(rollout, balance, row, frameFlags);
        options.onUnusable(rollout.envId[row] as number);
      } else {
        const earned = modes === null ? (reward[i] as number) : modes.reward(row, frameFlags, reward[i] as number);
        fates[i] = settleFrame(rollout, balance, row, frameFlags, earned, autoreset);
      }
      const isLive = rollout.state[row] !== ROW.gone;
      if (isLive !== wasLive) liveRows += isLive ? 1 : -1;
      if (before !== horizon && rollout.length[row] === horizon) complete.push(row);
    }
  };

  /** Samples an action for `row` at place `t` from row `i` of the outputs, stores it, and writes the env's form at `slot`. */
  const sample = (outputs: Float32Array, value: number, i: number, row: number, t: number, slot: number): void => {
    const place = row * places + t;
    noise.envId = rollout.envId[row] as number;
    noise.draw = rollout.draws[row] as number;
    rollout.draws[row] = noise.draw + 1;
    const { actions } = rollout;
    const actionAt = place * actionLength;
    rollout.logProbs[place] =
      explore === null
        ? head.sample(outputs, i, policy.free, noise, actions, actionAt)
        : explore.sample(head, { outputs, at: i, free: policy.free, noise, actions, actionAt }, row, place);
    rollout.values[place] = value;
    head.toEnv(actions, actionAt, envActions, slot * envLength);
  };

  /** V(final) of same-step truncations: their observations lie beside the batch, not in it. */
  const bootstrapFinals = (count: number): void => {
    let wanted = 0;
    for (let i = 0; i < count; i++) {
      if (((fates[i] as number) & FATE.bootstrapFinal) === 0) continue;
      moves.takeFinal(i, wanted);
      rows[wanted++] = i;
    }
    if (wanted === 0) return;
    const { values } = network.infer(scratch, wanted);
    for (let k = 0; k < wanted; k++) {
      const row = reader.rowOf[rows[k] as number] as number;
      rollout.bootstrap[row * horizon + (rollout.length[row] as number) - 1] = values[k] as number;
    }
  };

  /** Answers the held rows among `wanted` with the new policy; their observation moves from the last place to the first. */
  const release = (wanted: readonly number[]): void => {
    for (let from = 0; from < wanted.length; from += batchLimit) {
      const count = Math.min(batchLimit, wanted.length - from);
      clock.enter('infer');
      for (let k = 0; k < count; k++) {
        const row = wanted[from + k] as number;
        moves.takeHeld(row, k);
      }
      const { outputs, values } = network.infer(scratch, count);
      clock.enter('act');
      for (let k = 0; k < count; k++) {
        const row = wanted[from + k] as number;
        rows[k] = row;
        sample(outputs, values[k] as number, k, row, 0, k);
      }
      reader.act(count, rows, envActions);
    }
  };

  return {
    get liveRows() {
      return liveRows;
    },
    get updates() {
      return updates;
    },
    get losses() {
      return losses;
    },
    get updateDue() {
      return complete.length > 0 && complete.length >= Math.ceil(config.readyShare * liveRows);
    },
    addRows(_first, count, firstEnvId, task = '') {
      rollout.addRows(count, firstEnvId);
      modes?.addRows(count, firstEnvId, task);
    },
    dropRows(first, count) {
      for (let row = first; row < first + count; row++) {
        if (rollout.state[row] === ROW.gone) continue;
        if (rollout.state[row] !== ROW.fresh) liveRows--;
        retireRow(rollout, balance, row, 'abandoned');
      }
    },
    answer(count) {
      clock.enter('store');
      modes?.endEpisodes(reader);
      settle(count);
      clock.enter('infer');
      const { outputs, values } = network.infer(moves.asFloats(count), count);
      bootstrapFinals(count);
      clock.enter('act');
      let answered = 0;
      let resetCount = 0;
      for (let i = 0; i < count; i++) {
        const row = reader.rowOf[i] as number;
        const fate = fates[i] as number;
        if ((fate & FATE.bootstrapObservation) !== 0) {
          rollout.bootstrap[row * horizon + (rollout.length[row] as number) - 1] = values[i] as number;
        }
        const kind = fate & ANSWER;
        if (kind === FATE.none) continue;
        if (kind === FATE.acknowledge) {
          if (autoreset === 'disabled') {
            resets[resetCount++] = row;
            continue;
          }
          head.toEnv(idle, 0, envActions, answered * envLength);
          rows[answered++] = row;
          continue;
        }
        moves.store(i, row);
        if (kind === FATE.hold) continue;
        sample(outputs, values[i] as number, i, row, rollout.length[row] as number, answered);
        rows[answered++] = row;
      }
      if (answered > 0) reader.act(answered, rows, envActions);
      if (resetCount > 0) reader.commandReset(resetCount, resets);
    },
    settle,
    async update(stopping) {
      clock.enter('train');
      const sorted = Int32Array.from(complete).sort((a, b) => (rollout.envId[a] as number) - (rollout.envId[b] as number));
      complete = [];
      options.onUpdate?.();
      const count = sorted.length * horizon;
      let result: UpdateResult | null = null;
      try {
        result = await guarded(count, () => updatePolicy(policy, rollout, sorted, stopping, options.pause));
      } finally {
        if (result === null) dropPending(balance, count, 'bad-update');
      }
      if (result !== null) {
        balance.pending -= result.trained + result.leftByKl;
        balance.trained += result.trained;
        balance.superseded += result.leftByKl;
        dropPending(balance, result.leftByStop, 'unfinished');
        losses = result.losses;
        updates++;
      }
      const waiting: number[] = [];
      for (const row of sorted) {
        rollout.length[row] = 0;
        rollout.episodeStart[row] = 0;
        if (rollout.held[row] === 1) waiting.push(row);
        rollout.held[row] = 0;
      }
      release(waiting);
    },
    finish() {
      // Counted from the rows, not from the balance: what does not add up stays visible as pending.
      for (let row = 0; row < rollout.rows; row++) {
        dropPending(balance, rollout.length[row] as number, 'unfinished');
        rollout.length[row] = 0;
      }
    },
    dispose() {
      network.dispose();
    },
  };
}
