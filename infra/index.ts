// The rig: config -> sizing -> desired state -> components -> outputs. `pulumi up` runs it; nothing here talks to the host, and a config that is
// wrong ends it before a resource is registered.
import { desiredState } from './desired.js';
import { rigOutput } from './output.js';
import { standUpRig } from './rig.js';
import { rigSizing } from './rig-sizing.js';
import { localRelease, readSettings } from './settings.js';

const settings = readSettings();
const sizing = rigSizing(settings.config);
const release = localRelease(settings.config.release);
const desired = desiredState(settings.config, sizing, release);

standUpRig(settings, desired, release);

/** What `envladder` and the rig commands read: harness/contract/rig-output.ts. */
export const rig = rigOutput(settings.config, sizing, desired);
