// The trigger file of trigger-kind.ts, from the side that pulls: one byte per env id, 0 = step as usual. Written by rows in the rig's
// process, read and cleared by the envs in their workers.
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { MixEntry } from '../contract/plan.js';
import type { RowContext } from './chaos-row.js';

export const TRIGGERED_FAULTS = [
  'throw',
  'hang',
  'spin',
  'abort',
  'segfault',
  'exit',
  'nan',
  'nan-reward',
  'shape',
  'leak',
  'block-loop',
  /** 0.3 s off the CPU. */
  'pause',
  /** Cannot be constructed any more; the running env throws. */
  'broken',
  /** Writes half of its observation and hangs. */
  'half',
  /** A finite reward that no float32 holds: the update it goes into makes no sense. */
  'huge-reward',
] as const;
/** Finite, so the contract allows it: what `huge-reward` gives. */
export const HUGE_REWARD = 1e300;
export type TriggeredFault = (typeof TRIGGERED_FAULTS)[number];

/** Added to a code: the fault stays until it is cleared. */
export const STICKY = 128;

export interface Trigger {
  /** The mix entry whose envs it can break. */
  readonly entry: Omit<MixEntry, 'name'>;
  pull(envId: number, fault: TriggeredFault, sticky?: boolean): void;
  clear(envId: number): void;
  close(): void;
}

export interface TriggerOptions {
  readonly isolation?: MixEntry['isolation'];
  readonly pack?: number;
  readonly constructMs?: number;
}

/** Makes the file in the row's folder, for up to `envs` env ids. */
export function makeTrigger(context: RowContext, envs: number, options: TriggerOptions = {}): Trigger {
  const file = join(context.dir, 'trigger');
  const fd = openSync(file, 'w+');
  writeSync(fd, new Uint8Array(envs));
  const { isolation, pack, constructMs } = options;
  return {
    entry: {
      kind: 'trigger-probe',
      share: 1,
      config: { file, ...(constructMs === undefined ? {} : { constructMs }) },
      ...(isolation === undefined ? {} : { isolation }),
      ...(pack === undefined ? {} : { pack }),
    },
    pull: (envId, fault, sticky = false) => {
      writeSync(fd, Uint8Array.of(TRIGGERED_FAULTS.indexOf(fault) + 1 + (sticky ? STICKY : 0)), 0, 1, envId);
    },
    clear: (envId) => {
      writeSync(fd, Uint8Array.of(0), 0, 1, envId);
    },
    close: () => closeSync(fd),
  };
}
