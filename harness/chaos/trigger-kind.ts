// The probe with a trigger: breaks when it is told to, not on a schedule, so that a fault has a time. Each env looks at its own byte of the
// trigger file before every call; trigger.ts writes it. A module of env kinds (`--module`), loaded by workers of rigs.
import { openSync, readSync, writeSync } from 'node:fs';
import { z } from 'zod';
import type { TypedArray } from '../contract/dtype.js';
import type { Env, EnvContext, EnvKind, Slot, StepResult } from '../contract/env.js';
import { parseKindConfig } from '../envs/kind-config.js';
import { probe } from '../envs/kinds/probe.js';
import { HUGE_REWARD, STICKY, TRIGGERED_FAULTS, type TriggeredFault } from './trigger.js';

const configSchema = z.strictObject({
  /** The trigger file, absolute: one byte per env id. */
  file: z.string().min(1),
  terminateAt: z.int().positive().default(50),
  /** Milliseconds that a constructor takes. */
  constructMs: z.number().min(0).max(60_000).default(0),
});
type TriggerConfig = z.output<typeof configSchema>;

const sleepWord = new Int32Array(new SharedArrayBuffer(4));
const leaked: Buffer[] = [];
const LEAK_BYTES = 4 * 2 ** 20;

/** What acts before the call. */
function act(fault: TriggeredFault, slot: Slot, where: string): void {
  switch (fault) {
    case 'half': {
      const view = slot.obs.vector as Float64Array;
      view.fill(-1, 0, view.length / 2);
      Atomics.wait(sleepWord, 0, 0);
      return;
    }
    case 'throw':
    case 'broken':
      throw new Error(`triggered fault in ${where}`);
    case 'hang':
      Atomics.wait(sleepWord, 0, 0);
      return;
    case 'pause':
      Atomics.wait(sleepWord, 0, 0, 300);
      return;
    case 'spin':
      for (;;);
    case 'abort':
      process.abort();
      break;
    case 'segfault':
      process.kill(process.pid, 'SIGSEGV');
      Atomics.wait(sleepWord, 0, 0);
      return;
    case 'exit':
      process.exit(7);
      break;
    case 'leak':
      leaked.push(Buffer.alloc(LEAK_BYTES, 1));
      return;
    case 'block-loop':
      // Not in the env's own call: the step ends, then the event loop of its process does not come back.
      setImmediate(() => {
        for (;;);
      });
      return;
    default:
  }
}

/** What spoils the result. */
function spoil(slot: Slot, fault: TriggeredFault, result: StepResult): StepResult {
  const view = slot.obs.vector as Float64Array;
  switch (fault) {
    case 'nan':
      view[0] = Number.NaN;
      return result;
    case 'nan-reward':
      return { ...result, reward: Number.NaN };
    case 'huge-reward':
      return { ...result, reward: HUGE_REWARD };
    case 'shape':
      return { ...result, obs: { vector: view.slice(1) as TypedArray } };
    default:
      return result;
  }
}

function create(context: EnvContext<TriggerConfig>): Env {
  const { config } = context;
  const inner = probe.create({ ...context, config: { terminateAt: config.terminateAt, elements: 4, reuseBuffer: false, many: false } });
  // Kept for the life of the process: envs of the range are closed and built anew one by one.
  const fd = openSync(config.file, 'r+');
  const byte = new Uint8Array(1);
  const zero = new Uint8Array(1);
  const armed = (slot: Slot, on: 'construct' | 'step'): TriggeredFault | undefined => {
    if (readSync(fd, byte, 0, 1, slot.envId) !== 1 || byte[0] === 0) return undefined;
    const code = byte[0] as number;
    const fault = TRIGGERED_FAULTS[(code % STICKY) - 1];
    if (on === 'construct' && fault !== 'broken') return undefined;
    // Once is once, whatever becomes of this process: the byte goes before the fault acts.
    if (code < STICKY) writeSync(fd, zero, 0, 1, slot.envId);
    return fault;
  };
  return {
    async construct(slot) {
      const fault = armed(slot, 'construct');
      if (config.constructMs > 0) await new Promise((done) => setTimeout(done, config.constructMs));
      if (fault !== undefined) act(fault, slot, `construct of env ${slot.envId}`);
    },
    reset: (slot, seed) => inner.reset(slot, seed),
    step(slot, action) {
      const fault = armed(slot, 'step');
      if (fault === undefined) return inner.step(slot, action);
      act(fault, slot, `step of env ${slot.envId}`);
      return spoil(slot, fault, inner.step(slot, action));
    },
  };
}

export const triggerProbe: EnvKind<TriggerConfig> = {
  name: 'trigger-probe',
  version: '1.0.0',
  summary: 'probe that breaks when its byte in a file says so',
  parseConfig: (config) => parseKindConfig('trigger-probe', configSchema, config),
  spaces: () => probe.spaces({ elements: 4, reuseBuffer: false, many: false }),
  create,
  sources: [import.meta.url],
};

export const kinds = [triggerProbe];
