// What a soak keeps in its folder beside its runs, so that one that was cut off goes on where it stopped. Written every few seconds by
// run-soak.ts. Bounded: the newest deaths and strikes are kept.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EnvladderError } from '../../contract/errors.js';
import type { Death, SoakStrike } from './soak-faults.js';
import { type RawPlan, soakPlan } from './soak-plan.js';

/** Deaths and strikes that a report keeps. */
export const MOST_KEPT = 10_000;

export interface NewSoak {
  readonly plan?: string | undefined;
  readonly hours?: number | undefined;
  readonly seed: number;
}

/** What survives the soak's own end, in soak-state.json. */
export interface SoakState {
  readonly plan: RawPlan;
  readonly label: string;
  readonly seed: number;
  readonly startedAt: string;
  readonly runs: string[];
  doneSeconds: number;
  hours: number;
  readonly strikes: SoakStrike[];
  readonly deaths: Death[];
  restarts: number;
  suspensions: number;
  readonly exitCodes: (number | null)[];
  readonly verdicts: string[];
}

export const STATE_NAME = 'soak-state.json';

/** Throws `bad-usage` when the folder holds no soak. */
export function loadState(dir: string): SoakState {
  try {
    return JSON.parse(readFileSync(join(dir, STATE_NAME), 'utf8')) as SoakState;
  } catch (cause) {
    throw new EnvladderError(
      'bad-usage',
      `--resume: ${dir} holds no soak (${(cause as NodeJS.ErrnoException).code ?? `${STATE_NAME} cannot be read`}); give the folder of one that was cut off`,
      { cause },
    );
  }
}

/** Throws `run-folder` when the folder holds a soak already. */
export function newState(options: NewSoak, dir: string, redisUrl: string | null): SoakState {
  if (existsSync(join(dir, STATE_NAME)))
    throw new EnvladderError('run-folder', `${dir} holds a soak: go on with it by --resume, or choose another --out`);
  const plan = soakPlan({ ...options, cwd: process.cwd() }, redisUrl);
  return {
    plan,
    label: options.plan ?? `${options.hours ?? 1} h`,
    seed: options.seed,
    startedAt: new Date().toISOString(),
    runs: [],
    doneSeconds: 0,
    hours: 0,
    strikes: [],
    deaths: [],
    restarts: 0,
    suspensions: 0,
    exitCodes: [],
    verdicts: [],
  };
}
