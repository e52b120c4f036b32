// Writes a checkpoint so that it is whole or not there: everything goes into `<step>-tmp`, files and folder are fsynced, then one rename
// makes it visible and the parent is fsynced. Called by the learner between updates: the numbers are copied at once, the disk works
// beside the training, however slow it is.
import { existsSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pruneCheckpoints, sweepUnfinished, syncFolder } from './checkpoint-folder.js';
import {
  CHECKPOINT_FORMAT,
  checkpointName,
  MANIFEST,
  type Manifest,
  MODES_PART,
  POLICY_PARTS,
  type PolicyState,
  sealManifest,
  startSha256,
  UNFINISHED,
} from './checkpoint-format.js';
import { loadCheckpoint } from './checkpoint-read.js';
import type { ModeState } from './mode-memory.js';
import type { Policy } from './policy.js';

/** Bytes hashed and written at a time: bounds how long hashing holds the event loop (about 1 ms). */
const CHUNK_BYTES = 1 << 20;

export interface WrittenCheckpoint {
  readonly path: string;
  readonly bytes: number;
  /** False when a whole checkpoint of the same step was there already. */
  readonly written: boolean;
  /** What went wrong after it was visible and whole (older ones that stay, a name that may not outlive a power loss); null = nothing. */
  readonly trouble: string | null;
}

interface Part {
  readonly name: string;
  readonly data: Uint8Array;
}

/** Writes `data` to a new file, synced; returns its hash. */
async function writeSynced(path: string, data: Uint8Array): Promise<string> {
  const hash = startSha256();
  const handle = await open(path, 'wx');
  try {
    for (let from = 0; from < data.length; from += CHUNK_BYTES) {
      const chunk = data.subarray(from, from + CHUNK_BYTES);
      hash.update(chunk);
      for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at)).bytesWritten;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return hash.digest('hex');
}

/** A copy of all numbers; throws when one of them is none. */
function joined(arrays: readonly Float32Array[], what: string): Uint8Array {
  for (const array of arrays) {
    for (let i = 0; i < array.length; i++) {
      if (!Number.isFinite(array[i] as number)) throw new Error(`${what} hold ${array[i]}; only finite numbers are written`);
    }
  }
  return Buffer.concat(arrays.map((array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength)));
}

const modeHeader = ({ numbers: _, tasks, ...names }: ModeState) => ({ ...names, tasks: [...tasks] });

function stateOf(policy: Policy, modes: ModeState | null): PolicyState {
  return {
    signature: policy.signature,
    activation: policy.config.activation,
    encoder: policy.plan.encoder,
    parameters: policy.parameters.map(({ name, shape }) => ({ name, shape: [...shape] })),
    adam_step: policy.adam.step,
    shuffler: [...policy.shuffler.state],
    counters: { ...policy.counters },
    normaliser: modes === null ? null : modeHeader(modes),
  };
}

function partsOf(policies: readonly Policy[], modes: readonly (ModeState | null)[]): Part[] {
  return policies.flatMap((policy, i) => {
    const arrays = { weights: policy.parameters.map(({ data }) => data), first: policy.adam.first, second: policy.adam.second };
    const part = (name: string, data: readonly Float32Array[]): Part => ({
      name: `policy-${i}.${name}.f32`,
      data: joined(data, `${name} of policy '${policy.signature}'`),
    });
    const remembered = modes[i] ?? null;
    return [
      ...POLICY_PARTS.map((name) => part(name, arrays[name])),
      ...(remembered === null ? [] : [part(MODES_PART, [remembered.numbers])]),
    ];
  });
}

/** Transitions trained by all policies: names a checkpoint. */
export function stepOf(policies: readonly Policy[]): number {
  return policies.reduce((sum, policy) => sum + policy.counters.trained, 0);
}

/** Whether a checkpoint of this name is there and holds; what does not hold is taken out of the way. */
async function isThere(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  try {
    loadCheckpoint(path);
    return true;
  } catch (error) {
    const code = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code;
    // A disk that does not answer says nothing about what lies on it.
    if (code !== undefined && code !== 'ENOENT') throw error;
    await rename(path, path + UNFINISHED);
    return false;
  }
}

/**
 * Writes the state of all policies, as it is at the call, to `folder/<step>`. One at a time per folder. Rejects with what the file system
 * or a number that is none says; nothing half-written is ever visible.
 */
export async function writeCheckpoint(folder: string, runId: string, policies: readonly Policy[]): Promise<WrittenCheckpoint> {
  const step = stepOf(policies);
  const modes = policies.map((policy) => policy.modes?.state() ?? null);
  const states = policies.map((policy, i) => stateOf(policy, modes[i] ?? null));
  const parts = partsOf(policies, modes);
  const path = join(folder, checkpointName(step));
  const work = path + UNFINISHED;
  if (await isThere(path)) return { path, bytes: 0, written: false, trouble: null };
  const made = await mkdir(folder, { recursive: true });
  if (made !== undefined) await syncFolder(dirname(made));
  await sweepUnfinished(folder);
  await mkdir(work);
  const files: Manifest['files'] = [];
  let bytes = 0;
  try {
    for (const { name, data } of parts) files.push({ name, bytes: data.length, sha256: await writeSynced(join(work, name), data) });
    const manifest = Buffer.from(sealManifest({ format: CHECKPOINT_FORMAT, run_id: runId, step, policies: states, files }));
    await writeSynced(join(work, MANIFEST), manifest);
    bytes = files.reduce((sum, file) => sum + file.bytes, manifest.length);
    await syncFolder(work);
    await rename(work, path);
  } catch (error) {
    // What cannot be removed now is swept by the next writer.
    await rm(work, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
  try {
    await syncFolder(folder);
    await pruneCheckpoints(folder, basename(path));
    return { path, bytes, written: true, trouble: null };
  } catch (error) {
    return { path, bytes, written: true, trouble: (error as Error).message };
  }
}
