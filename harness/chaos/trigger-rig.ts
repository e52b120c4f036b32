// Rigs whose envs break when told to: makes the trigger together with the rig's options and finds it again for `inject`.
import type { PlanInput } from '../contract/plan.js';
import type { RowContext } from './chaos-row.js';
import { type Rig, type RigOptions, TRIGGER_MODULE } from './rig.js';
import { makeTrigger, type Trigger, type TriggerOptions } from './trigger.js';

const ENVS = 80;
const triggers = new WeakMap<RowContext, Trigger>();

/** Options of a rig of `ENVS` trigger-probes; `plan` on top. */
export function triggerRig(plan: Partial<PlanInput> = {}, options: TriggerOptions = {}): (context: RowContext) => RigOptions {
  return (context) => {
    // Two rows in one rig (a pair) pull the same trigger.
    const trigger = triggers.get(context) ?? makeTrigger(context, ENVS, options);
    triggers.set(context, trigger);
    return { module: TRIGGER_MODULE, plan: { ...plan, mix: { 'trigger-probe': trigger.entry } } };
  };
}

export function triggerOf(rig: Rig): Trigger {
  const trigger = triggers.get(rig.context);
  if (trigger === undefined) throw new Error('this rig was made without a trigger');
  return trigger;
}
