// The rig: config -> sizing -> desired state -> components -> outputs. `pulumi up` runs it; nothing here talks to the host, and a config that is
// wrong ends it before a resource is registered.
import * as pulumi from '@pulumi/pulumi';
import { EnvladderError } from '../harness/contract/errors.js';
import type { RigOutput } from '../harness/contract/rig-output.js';
import { desiredState } from './desired.js';
import { rigOutput } from './output.js';
import { standUpRig } from './rig.js';
import { rigSizing } from './rig-sizing.js';
import { localRelease, readSettings } from './settings.js';

function program(): RigOutput {
  const settings = readSettings();
  const sizing = rigSizing(settings.config);
  const release = localRelease(settings.config.release);
  const desired = desiredState(settings.config, sizing, release);
  standUpRig(settings, desired, release);
  return rigOutput(settings.config, sizing, desired);
}

/** An operator's error is words for the operator: the CLI shows a RunError without the stack of this program. */
function inWords<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof EnvladderError ? new pulumi.RunError(error.message) : error;
  }
}

/** What `envladder` and the rig commands read: harness/contract/rig-output.ts. */
export const rig = inWords(program);
