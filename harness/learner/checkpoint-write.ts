// Writes a checkpoint so that it is whole or not there: everything goes into `<step>-tmp`, files and folder are fsynced, then one rename
// makes it visible and the parent is fsynced. The newest KEPT_CHECKPOINTS stay. Called by the learner between updates.
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  CHECKPOINT_FORMAT,
  checkpointName,
  KEPT_CHECKPOINTS,
  MANIFEST,
  type Manifest,
  POLICY_PARTS,
  type PolicyState,
  sealManifest,
  sha256,
  UNFINISHED,
} from './checkpoint-format.js';
import type { Policy } from './policy.js';

export interface WrittenCheckpoint {
  readonly path: string;
  readonly bytes: number;
  /** False when a checkpoint of the same step was there already. */
  readonly written: boolean;
}

function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function writeSynced(path: string, data: Uint8Array): void {
  const fd = openSync(path, 'wx');
  try {
    for (let at = 0; at < data.length; ) at += writeSync(fd, data, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function joined(arrays: readonly Float32Array[]): Uint8Array {
  return Buffer.concat(arrays.map((array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength)));
}

function stateOf(policy: Policy): PolicyState {
  return {
    signature: policy.signature,
    activation: policy.config.activation,
    encoder: policy.plan.encoder,
    parameters: policy.parameters.map(({ name, shape }) => ({ name, shape: [...shape] })),
    adam_step: policy.adam.step,
    shuffler: [...policy.shuffler.state],
    counters: { ...policy.counters },
    normaliser: null,
  };
}

/** Complete checkpoints in `folder`, newest first. */
export function listCheckpoints(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^\d{12,}$/.test(name))
    .sort((a, b) => Number(b) - Number(a));
}

function prune(folder: string): void {
  for (const name of listCheckpoints(folder).slice(KEPT_CHECKPOINTS)) rmSync(join(folder, name), { recursive: true, force: true });
  for (const name of readdirSync(folder)) {
    // Left by a process that died while writing: never complete, never loaded.
    if (name.endsWith(UNFINISHED)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Writes the state of all policies to `folder/<step>`. Throws what the file system throws; nothing half-written stays visible. */
export function writeCheckpoint(folder: string, runId: string, policies: readonly Policy[]): WrittenCheckpoint {
  const step = policies.reduce((sum, policy) => sum + policy.counters.trained, 0);
  const path = join(folder, checkpointName(step));
  if (existsSync(path)) return { path, bytes: 0, written: false };
  const work = `${path}${UNFINISHED}`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  try {
    const files: Manifest['files'] = [];
    const add = (name: string, data: Uint8Array): void => {
      writeSynced(join(work, name), data);
      files.push({ name, bytes: data.length, sha256: sha256(data) });
    };
    policies.forEach((policy, i) => {
      const arrays = { weights: policy.parameters.map(({ data }) => data), first: policy.adam.first, second: policy.adam.second };
      for (const part of POLICY_PARTS) add(`policy-${i}.${part}.f32`, joined(arrays[part]));
    });
    const manifest = sealManifest({ format: CHECKPOINT_FORMAT, run_id: runId, step, policies: policies.map(stateOf), files });
    writeSynced(join(work, MANIFEST), Buffer.from(manifest));
    syncFolder(work);
    renameSync(work, path);
    syncFolder(folder);
    prune(folder);
    return { path, bytes: files.reduce((sum, file) => sum + file.bytes, manifest.length), written: true };
  } catch (error) {
    rmSync(work, { recursive: true, force: true });
    throw error;
  }
}
