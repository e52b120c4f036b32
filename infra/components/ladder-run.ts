// One ladder on the rig as a part of the stack: it runs when the rig is first complete, and again when plan, release or sizing change. Its run folder
// is fetched with `npm run rig:ladder`; a ladder that is run by hand needs no component.
import type { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { type ConcernArgs, registerConcern } from '../concern.js';

/** Far over any plan's own length: the plan bounds itself, and the engine's patience must not end a run of a week. */
const LADDER_MINUTES = 14 * 24 * 60;

export class LadderRun extends pulumi.ComponentResource {
  readonly applied: remote.Command;

  constructor(name: string, args: ConcernArgs, options?: pulumi.ComponentResourceOptions) {
    super('envladder:rig:LadderRun', name, {}, options);
    this.applied = registerConcern(this, { timeoutMinutes: LADDER_MINUTES, ...args });
    this.registerOutputs({});
  }
}
