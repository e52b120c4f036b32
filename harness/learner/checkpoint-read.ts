// Reads checkpoints and refuses damaged ones: size and hash of every file are checked before anything is used. `newestCheckpoint` skips
// what does not hold and says why, so that one bad write never costs more than the minutes since the one before.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EnvladderError } from '../contract/errors.js';
import { listCheckpoints } from './checkpoint-folder.js';
import { MANIFEST, type Manifest, MODES_PART, manifestSchema, POLICY_PARTS, type PolicyState, sha256 } from './checkpoint-format.js';
import { MODE_COLUMNS } from './learner-modes.js';
import { MODES_OFF, type ModeState, modeDifferences, modeNumbers } from './mode-memory.js';
import { noiseKey } from './noise.js';
import type { Policy } from './policy.js';

export interface StoredPolicy {
  readonly state: PolicyState;
  readonly weights: Float32Array;
  readonly first: Float32Array;
  readonly second: Float32Array;
  /** Null without modes. */
  readonly modes: ModeState | null;
}

export interface Checkpoint {
  readonly path: string;
  readonly step: number;
  readonly runId: string;
  readonly policies: readonly StoredPolicy[];
}

function bad(path: string, what: string, cause?: unknown): EnvladderError {
  return new EnvladderError('bad-checkpoint', `checkpoint ${path}: ${what}. Resume from another one, or start without --resume`, {
    cause,
    detail: { path, what },
  });
}

function readManifest(path: string): Manifest {
  const file = join(path, MANIFEST);
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw bad(path, missing ? `${MANIFEST} is missing` : `${MANIFEST} is not readable JSON (${(cause as Error).message})`, cause);
  }
  const { sha256: seal, ...body } = parsed;
  if (body.format !== 1) throw bad(path, `${MANIFEST} has format ${JSON.stringify(body.format)}, this version reads format 1`);
  if (sha256(JSON.stringify(body)) !== seal) throw bad(path, `${MANIFEST} does not match its own hash`);
  const manifest = manifestSchema.safeParse(body);
  if (!manifest.success) {
    const issue = manifest.error.issues[0];
    throw bad(path, `${MANIFEST}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a manifest'}`);
  }
  return manifest.data;
}

function readFloats(path: string, manifest: Manifest, name: string, expected: number): Float32Array {
  const entry = manifest.files.find((file) => file.name === name);
  if (entry === undefined) throw bad(path, `${MANIFEST} does not list ${name}`);
  let data: Buffer;
  try {
    data = readFileSync(join(path, name));
  } catch (cause) {
    throw bad(path, `${name} cannot be read (${(cause as Error).message})`, cause);
  }
  if (data.length !== entry.bytes) throw bad(path, `${name} has ${data.length} bytes, the manifest says ${entry.bytes}`);
  if (sha256(data) !== entry.sha256) throw bad(path, `${name} does not match its hash: the file was damaged`);
  if (data.length !== expected * 4) throw bad(path, `${name} has ${data.length / 4} numbers, the manifest's shapes have ${expected}`);
  // A copy: a Buffer's memory need not be aligned.
  return new Float32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length));
}

function readModes(path: string, manifest: Manifest, policy: number, { normaliser }: PolicyState): ModeState | null {
  if (normaliser === null) return null;
  const length = modeNumbers(normaliser.envs, normaliser.tasks.length, MODE_COLUMNS);
  return { ...normaliser, numbers: readFloats(path, manifest, `policy-${policy}.${MODES_PART}.f32`, length) };
}

/** Reads one checkpoint folder. Throws `bad-checkpoint` with what is wrong and where. */
export function loadCheckpoint(path: string): Checkpoint {
  const manifest = readManifest(path);
  const policies = manifest.policies.map((state, i) => {
    const length = state.parameters.reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1), 0);
    const [weights, first, second] = POLICY_PARTS.map((part) => readFloats(path, manifest, `policy-${i}.${part}.f32`, length));
    return {
      state,
      weights: weights as Float32Array,
      first: first as Float32Array,
      second: second as Float32Array,
      modes: readModes(path, manifest, i, state),
    };
  });
  return { path, step: manifest.step, runId: manifest.run_id, policies };
}

export interface FoundCheckpoint {
  readonly checkpoint: Checkpoint;
  /** Newer ones that did not hold, newest first. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * The checkpoint to resume from: `path` itself, or the newest valid one in `path` or `path/checkpoints` (a run folder). Throws
 * `bad-checkpoint` when there is none, with the reason for each that was skipped.
 */
export function newestCheckpoint(path: string): FoundCheckpoint {
  if (existsSync(join(path, MANIFEST))) return { checkpoint: loadCheckpoint(path), skipped: [] };
  const inside = join(path, 'checkpoints');
  const folder = existsSync(inside) ? inside : path;
  const skipped: { path: string; reason: string }[] = [];
  for (const name of listCheckpoints(folder)) {
    const candidate = join(folder, name);
    try {
      return { checkpoint: loadCheckpoint(candidate), skipped };
    } catch (error) {
      if (!(error instanceof EnvladderError)) throw error;
      skipped.push({ path: candidate, reason: String(error.detail.what) });
    }
  }
  const reasons = skipped.map(({ path: where, reason }) => `${where}: ${reason}`).join('; ');
  throw bad(path, skipped.length === 0 ? 'there is no checkpoint here' : `none is valid (${reasons})`);
}

/**
 * Fills a fresh policy: weights, moments, generator, counters, what its modes remember. Returns the modes that differ from those it was
 * trained with. Throws `bad-checkpoint` naming the first difference in shape.
 */
export function restorePolicy(policy: Policy, stored: StoredPolicy, path: string): string[] {
  const { state } = stored;
  const found = state.parameters.map(({ name, shape }) => `${name} [${shape.join(',')}]`);
  const needed = policy.parameters.map(({ name, shape }) => `${name} [${shape.join(',')}]`);
  for (let i = 0; i < Math.max(found.length, needed.length); i++) {
    if (found[i] === needed[i]) continue;
    throw bad(
      path,
      `policy '${policy.signature}' needs ${needed[i] ?? 'no further parameter'}, the checkpoint has ${found[i] ?? 'none'}: ppo.hidden or ppo.encoder differ`,
    );
  }
  if (state.activation !== policy.config.activation) {
    throw bad(
      path,
      `policy '${policy.signature}' was trained with ppo.activation '${state.activation}', the plan says '${policy.config.activation}'`,
    );
  }
  const scatter = (from: Float32Array, to: readonly Float32Array[]): void => {
    let at = 0;
    for (const array of to) {
      array.set(from.subarray(at, at + array.length));
      at += array.length;
    }
  };
  scatter(
    stored.weights,
    policy.parameters.map(({ data }) => data),
  );
  scatter(stored.first, policy.adam.first);
  scatter(stored.second, policy.adam.second);
  policy.adam.step = state.adam_step;
  policy.shuffler.state.set(state.shuffler);
  Object.assign(policy.counters, state.counters);
  policy.noiseKey = noiseKey(policy.noiseKey, `resumed ${state.counters.gradientSteps}`);
  policy.network.upload();
  return policy.modes?.restore(stored.modes) ?? modeDifferences(stored.modes, MODES_OFF);
}
