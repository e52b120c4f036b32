// The step loop's core: one round over the slots that a claim leased. Steps go through stepMany where the kind has it, else slot by
// slot; then the time limit, the autoreset rule and the flags. The caller publishes afterwards (publishClaimed). No allocation, no
// closures and no message per env; the only objects are those an env's own `step` returns.
import type { CheckLevel } from '../contract/check-level.js';
import type { Action } from '../contract/env.js';
import { ABANDONED, DONE, FINAL, FIRST, TERMINATED, TRUNCATED } from '../contract/frame-flags.js';
import { elementRule, takeResetResult, takeStepResult } from './check-result.js';
import { PROGRESS_ENV, PROGRESS_OP, PROGRESS_OP_WORD, PROGRESS_SPAN } from './range-port.js';
import { contractError } from './slot-failure.js';
import { failSlot } from './slot-life.js';
import { beginOp, endOp, type SlotTable, stampOp } from './slot-table.js';

/** Mean step beyond which single steps are timed: a clock read costs about 40 ns. */
const TIMED_STEP_MS = 0.002;
const SLOW_TIMES = 3;
const MAX_DEFERRED = 64;
const STEP_MS_GAIN = 1 / 128;
/** One cheap reset in 16 is timed. */
const RESET_SAMPLE_MASK = 15;
const RESET_MS_GAIN = 1 / 4;

/** Steps and resets every claimed slot. Envs that fail leave the round (`failSlot`). */
export function stepClaimed(table: SlotTable): void {
  const { port } = table;
  if (port.runCount > 0) stepRuns(table);
  for (let r = 0; r < port.resetCount; r++) {
    const index = port.resets[r] as number;
    if (!resetSlot(table, index)) continue;
    // Only the first frame of a slot that was just built can follow a lost trajectory; the question costs a call into the addon.
    port.range.flags[index] = table.fresh[index] === 1 && port.wasAbandoned(index) ? FIRST | ABANDONED : FIRST;
    port.range.reward[index] = 0;
    table.fresh[index] = 0;
  }
  endOp(table);
}

/**
 * Cheap steps of a claim are dated by its start, about a millisecond at most: a clock read costs as much as a step. Where steps cost much
 * more than that, and in a range's first claim, when nobody knows yet, every run is dated by itself, or every step (`stepRunBySlot`).
 */
function stepRuns(table: SlotTable): void {
  const { port, stepMs, slotBySlot } = table;
  const beganMs = beginOp(table, table.port.spec.firstEnvId + (port.runs[0] as number), 'step');
  const dated = table.deferSlow && (stepMs === 0 || stepMs > TIMED_STEP_MS);
  let steps = 0;
  for (let r = 0; r < port.runCount; r++) {
    const first = port.runs[2 * r] as number;
    const count = port.runs[2 * r + 1] as number;
    steps += count;
    if (dated && r > 0) stampOp(table, performance.now());
    if (slotBySlot) stepRunBySlot(table, first, count, dated);
    else stepRun(table, first, count);
  }
  // Steps that are timed one by one make the mean themselves.
  if (!table.deferSlow || (slotBySlot && stepMs > TIMED_STEP_MS)) return;
  const meanMs = (performance.now() - beganMs) / steps;
  table.stepMs = stepMs === 0 ? meanMs : stepMs + (meanMs - stepMs) * STEP_MS_GAIN;
}

/** Publishes what stepClaimed made; envs whose frames were refused for their contents have failed. Returns the frames published. */
export function publishClaimed(table: SlotTable, check: CheckLevel): number {
  const { port } = table;
  const published = port.publish(check);
  const breaches = port.breaches;
  for (let b = 0; b < breaches.length; b++) {
    const refused = breaches[b];
    if (refused === undefined) continue;
    const { slot, key, element, value, rule } = refused;
    const error = contractError({
      envId: port.spec.firstEnvId + slot,
      kind: table.kindName,
      operation: table.steps[slot] === 0 ? 'reset' : 'step',
      key: key === 'reward' ? key : `${key}[${element}]`,
      value: String(value),
      rule: elementRule(table.keys, key, element, rule),
    });
    failSlot(table, slot, 'step', error);
  }
  return published;
}

function stepRun(table: SlotTable, first: number, count: number): void {
  const { progress } = table;
  progress[PROGRESS_ENV] = table.port.spec.firstEnvId + first;
  progress[PROGRESS_SPAN] = count;
  try {
    table.env.stepMany?.(first, count);
    progress[PROGRESS_SPAN] = 1;
  } catch (cause) {
    progress[PROGRESS_SPAN] = 1;
    abandonRun(table, first, count, cause);
    return;
  }
  const { steps, stepLimit } = table;
  const { flags } = table.port.range;
  const end = first + count;
  for (let i = first; i < end; i++) {
    const step = (steps[i] as number) + 1;
    steps[i] = step;
    const flag = flags[i] as number;
    if (flag !== 0 || step >= stepLimit) endStep(table, i, step >= stepLimit ? flag | TRUNCATED : flag);
  }
}

/**
 * A throw of stepMany names no slot, and some slots of the run have been stepped while others have not. So every slot of the run
 * loses its trajectory (ABANDONED) and starts anew, and from here on the range is stepped slot by slot: a repeat names its env.
 */
function abandonRun(table: SlotTable, first: number, count: number, cause: unknown): void {
  table.slotBySlot = true;
  table.onRangeThrow(cause, table.port.spec.firstEnvId + first);
  const what = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  process.emitWarning(
    `env kind '${table.kindName}': stepMany threw ${what} for slots ${first}..${first + count - 1}; they start anew and are stepped one by one from here`,
  );
  for (let i = first; i < first + count; i++) {
    if (!resetSlot(table, i)) continue;
    table.port.range.flags[i] = FIRST | ABANDONED;
    table.port.range.reward[i] = 0;
  }
}

function stepRunBySlot(table: SlotTable, first: number, count: number, dated: boolean): void {
  const { port, env, slots, steps, stepLimit, progress } = table;
  const { reward } = port.range;
  const timed = dated && table.stepMs > TIMED_STEP_MS;
  let beganMs = timed ? performance.now() : 0;
  for (let i = first; i < first + count; i++) {
    const slot = slots[i];
    if (slot === undefined) continue;
    if (dated && i > first) {
      beganMs = timed ? deferSlow(table, i - 1, beganMs) : performance.now();
      stampOp(table, beganMs);
    }
    progress[PROGRESS_ENV] = slot.envId;
    const step = (steps[i] as number) + 1;
    steps[i] = step;
    let flag: number;
    try {
      const result = env.step(slot, actionOf(table, i));
      takeStepResult(table, i, result);
      reward[i] = result.reward;
      flag = (result.terminated ? TERMINATED : 0) | (result.truncated ? TRUNCATED : 0);
    } catch (cause) {
      failSlot(table, i, 'step', cause);
      continue;
    }
    if (step >= stepLimit) flag |= TRUNCATED;
    if (flag !== 0) endStep(table, i, flag);
  }
  if (timed) deferSlow(table, first + count - 1, beganMs);
}

/**
 * A slot whose step took many times the usual is passed over in as many claims as it took others' time, so that a straggler delays only
 * itself. The usual is a running mean in which a slow step counts as three: stragglers must not define what is slow. Returns the time.
 */
function deferSlow(table: SlotTable, slot: number, beganMs: number): number {
  const nowMs = performance.now();
  const tookMs = nowMs - beganMs;
  const times = tookMs / table.stepMs;
  if (times > SLOW_TIMES) table.port.defer?.(slot, Math.min(MAX_DEFERRED, Math.round(times) - 1));
  table.stepMs += (Math.min(tookMs, SLOW_TIMES * table.stepMs) - table.stepMs) * STEP_MS_GAIN;
  return nowMs;
}

function actionOf(table: SlotTable, index: number): Action {
  const { action, actionStride } = table.port.range;
  const at = index * actionStride;
  if (table.action.type === 'discrete') return action[at] as number;
  const scratch = table.actionScratch;
  for (let j = 0; j < scratch.length; j++) scratch[j] = action[at + j] as number;
  return scratch;
}

/** An episode ended: keep its flags, and under same-step its last observation, then start the next one in the same frame. */
function endStep(table: SlotTable, index: number, flag: number): void {
  const { port } = table;
  if ((flag & ~DONE) !== 0) {
    const error = contractError({
      envId: port.spec.firstEnvId + index,
      kind: table.kindName,
      operation: 'step',
      key: 'flags',
      value: String(flag),
      rule: 'stepMany may set TERMINATED and TRUNCATED only',
    });
    failSlot(table, index, 'step', error);
    return;
  }
  port.range.flags[index] = flag;
  if (port.spec.autoreset !== 'same-step') return;
  // The one call per env of the step path: the last observation must be out of the cell before `reset`, next line, overwrites it. It
  // comes once per ended episode, under same-step only; a run of steps costs no call per env.
  port.keepFinal(index);
  if (resetSlot(table, index)) port.range.flags[index] = flag | FINAL;
  // The slots that follow in this run are stepped.
  table.progress[PROGRESS_OP_WORD] = PROGRESS_OP.step;
}

/** Starts the slot's next episode in its current cell. False: the env failed. */
function resetSlot(table: SlotTable, index: number): boolean {
  const { started } = table;
  const slot = table.slots[index];
  const stream = table.streams[index];
  if (slot === undefined || stream === undefined) return false;
  // Resets are dated like steps: each where they are slow, else one in a few, to notice when they become it.
  const timed = table.resetMs > TIMED_STEP_MS || (table.resets++ & RESET_SAMPLE_MASK) === 0;
  const beganMs = timed ? beginOp(table, slot.envId, 'reset') : 0;
  table.progress[PROGRESS_ENV] = slot.envId;
  table.progress[PROGRESS_OP_WORD] = PROGRESS_OP.reset;
  if (started[index] === 1) slot.episode++;
  else started[index] = 1;
  table.steps[index] = 0;
  stream.reseat(slot.envId, slot.episode, table.epoch);
  try {
    const result = table.env.reset(slot, stream);
    if (result !== undefined) takeResetResult(table, index, result);
  } catch (cause) {
    failSlot(table, index, 'reset', cause);
    return false;
  }
  if (timed) table.resetMs += (performance.now() - beganMs - table.resetMs) * RESET_MS_GAIN;
  return true;
}
