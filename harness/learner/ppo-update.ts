// One PPO update: complete rows of a rollout become advantages, then epochs of shuffled minibatches through loss, gradient and Adam.
// Rows come sorted, so equal frames give equal weights whatever order they arrived in. Yields between minibatches; the caller may stop it.
import { DONE, TERMINATED } from '../contract/frame-flags.js';
import { stepAdam } from './adam.js';
import type { Exploration } from './exploration.js';
import { estimateAdvantages, explainedVariance, normalizeAdvantages } from './gae.js';
import { learningRateAt } from './learning-rate.js';
import { readObservation } from './observation-moves.js';
import type { Policy } from './policy.js';
import { type LossTerms, ppoLoss } from './ppo-loss.js';
import { copyColumns, type Rollout } from './rollout.js';

export interface UpdateResult {
  /** Samples that entered at least one gradient step. */
  readonly trained: number;
  /** Samples that an early stop inside the first epoch left out: by KL. */
  readonly leftByKl: number;
  /** Likewise, because `stopping` said so. */
  readonly leftByStop: number;
  readonly losses: Readonly<Record<string, number>>;
}

/** Advantages, returns and their ingredients of complete rows, row-major [rows x horizon]. */
function targets(policy: Policy, rollout: Rollout, rows: Int32Array) {
  const { horizon } = rollout;
  const count = rows.length * horizon;
  const rewards = new Float32Array(count);
  const values = new Float32Array(count);
  const nextValues = new Float32Array(count);
  const ends = new Uint8Array(count);
  rows.forEach((row, r) => {
    const scale = policy.modes?.rewardScale(row) ?? 1;
    for (let t = 0; t < horizon; t++) {
      const i = r * horizon + t;
      const from = row * horizon + t;
      const place = row * (horizon + 1) + t;
      const flags = rollout.flags[from] as number;
      rewards[i] = scale * (rollout.rewards[from] as number);
      values[i] = rollout.values[place] as number;
      ends[i] = (flags & DONE) === 0 ? 0 : 1;
      if ((flags & TERMINATED) !== 0) nextValues[i] = 0;
      else if ((flags & DONE) !== 0 || t === horizon - 1) nextValues[i] = rollout.bootstrap[from] as number;
      else nextValues[i] = rollout.values[place + 1] as number;
    }
  });
  const advantages = new Float32Array(count);
  const returns = new Float32Array(count);
  const { gamma, lambda } = policy.config;
  estimateAdvantages({ rows: rows.length, horizon, rewards, values, nextValues, ends }, gamma, lambda, advantages, returns);
  return { count, values, advantages, returns };
}

/** Copies the samples order[from..from+count-1] into contiguous minibatch arrays. */
function createGatherer(rollout: Rollout, rows: Int32Array, capacity: number, exploration: Exploration | null) {
  const { horizon, planes, actionLength } = rollout;
  const observations = planes.map((plane) => new Float32Array(capacity * plane.columns));
  const actions = new Float32Array(capacity * actionLength);
  const logProbs = new Float32Array(capacity);
  const from = exploration?.ratios() ?? null;
  const ratios = from === null ? null : new Float32Array(capacity);
  return {
    observations,
    actions,
    logProbs,
    ratios,
    gather(order: Int32Array, first: number, count: number): void {
      for (let i = 0; i < count; i++) {
        const sample = order[first + i] as number;
        const r = Math.floor(sample / horizon);
        const row = rows[r] as number;
        const t = sample - r * horizon;
        for (let p = 0; p < planes.length; p++) {
          readObservation(rollout, p, row, t, observations[p] as Float32Array, i);
        }
        const place = row * (horizon + 1) + t;
        logProbs[i] = rollout.logProbs[place] as number;
        if (ratios !== null && from !== null) ratios[i] = from[place] as number;
        copyColumns(rollout.actions, place * actionLength, actions, i * actionLength, actionLength);
      }
    },
  };
}

/** Throws with the first number of `arrays` that is none. */
function requireFinite(arrays: readonly Float32Array[], what: string): void {
  for (const array of arrays) {
    for (let i = 0; i < array.length; i++) {
      if (!Number.isFinite(array[i] as number)) throw new Error(`${what} hold ${array[i]}`);
    }
  }
}

/**
 * Trains on the complete `rows`. `pause` is awaited between minibatches. Throws when loss, gradient norm, weights or moments are not
 * finite, and what the backend throws: the policy is then half-updated, and its caller puts it back.
 */
export async function updatePolicy(
  policy: Policy,
  rollout: Rollout,
  rows: Int32Array,
  stopping: () => boolean,
  pause: () => Promise<void>,
): Promise<UpdateResult> {
  const { config, head, network, parameters, adam, shuffler, counters, free } = policy;
  const { count, values, advantages, returns } = targets(policy, rollout, rows);
  const variance = explainedVariance(values, returns, count);
  if (config.normalizeAdvantages) normalizeAdvantages(advantages, count);
  const capacity = Math.min(config.minibatch, count);
  const minibatch = createGatherer(rollout, rows, capacity, policy.modes?.exploration ?? null);
  const part = { advantages: new Float32Array(capacity), returns: new Float32Array(capacity), values: new Float32Array(capacity) };
  const weighing = policy.modes?.weigh(advantages, rows, rollout.horizon, shuffler) ?? null;
  const weights = weighing === null ? null : new Float32Array(capacity);
  const order = Int32Array.from({ length: count }, (_, i) => i);
  const data = parameters.map((parameter) => parameter.data);
  const dFree = new Float64Array(free.length);
  const rate = learningRateAt(config, counters.trained);
  let terms: LossTerms = { total: 0, policy: 0, value: 0, entropy: 0, kl: 0, clipShare: 0 };
  let norm = 0;
  let trained = 0;
  let steps = 0;
  let ended: 'kl' | 'stop' | null = null;

  for (let epoch = 0; epoch < config.epochs && ended === null; epoch++) {
    if (weighing === null) shuffler.shuffle(order, count);
    else weighing.order(epoch, order);
    const weightOf = weighing?.of(epoch) ?? null;
    for (let from = 0; from < count; from += capacity) {
      if (stopping()) {
        ended = 'stop';
        break;
      }
      const size = Math.min(capacity, count - from);
      minibatch.gather(order, from, size);
      for (let i = 0; i < size; i++) {
        const sample = order[from + i] as number;
        part.advantages[i] = advantages[sample] as number;
        part.returns[i] = returns[sample] as number;
        part.values[i] = values[sample] as number;
        if (weights !== null) weights[i] = weightOf === null ? 1 : (weightOf[sample] as number);
      }
      const { actions, logProbs, ratios } = minibatch;
      const samples = { count: size, actions, logProbs, ...part, weights, ratios };
      const gradients = network.gradients(minibatch.observations, size, (outputs, newValues, dOutputs, dValues) => {
        terms = ppoLoss(head, config, samples, outputs, newValues, free, { dOutputs, dValues, dFree });
      });
      if (!Number.isFinite(terms.total)) {
        throw new Error(
          `the loss is ${terms.total} at gradient step ${steps + 1} (policy ${terms.policy}, value ${terms.value}, entropy ${terms.entropy})`,
        );
      }
      if (config.targetKl > 0 && terms.kl > config.targetKl) {
        ended = 'kl';
        break;
      }
      if (free.length > 0) gradients.push(Float32Array.from(dFree));
      norm = stepAdam(adam, data, gradients, rate, config.maxGradNorm);
      if (!Number.isFinite(norm)) throw new Error(`the gradient norm is ${norm} at gradient step ${steps + 1} (loss ${terms.total})`);
      network.upload();
      steps++;
      if (epoch === 0) trained += size;
      await pause();
    }
  }
  requireFinite(data, `after ${steps} gradient steps the weights`);
  requireFinite([...adam.first, ...adam.second], `after ${steps} gradient steps Adam's moments`);
  counters.updates++;
  counters.trained += trained;
  counters.gradientSteps += steps;
  return {
    trained,
    leftByKl: ended === 'kl' ? count - trained : 0,
    leftByStop: ended === 'stop' ? count - trained : 0,
    losses: {
      loss: terms.total,
      policy_loss: terms.policy,
      value_loss: terms.value,
      entropy: terms.entropy,
      kl: terms.kl,
      clip_share: terms.clipShare,
      explained_variance: variance,
      gradient_norm: norm,
      learning_rate: rate,
      gradient_steps: steps,
    },
  };
}
