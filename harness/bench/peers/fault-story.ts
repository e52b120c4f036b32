// From the stages that a peer's fault driver went through to one line that a person reads: what each call did, and where it never came back. Pure.
import type { AnswerOf } from './peer-answer.js';

export interface Hang {
  readonly stage: string;
  /** How long it was watched. */
  readonly seconds: number;
  /** Cores it used meanwhile: about one is a spin, about none a wait. */
  readonly cores: number;
}

export interface FaultStory {
  readonly stages: readonly AnswerOf<'stage'>[];
  readonly hang: Hang | null;
  /** Processes still there after the driver itself was killed, which ends a hang; null = it was not killed. */
  readonly orphans: number | null;
}

export type Outcome = 'hangs' | 'raises' | 'goes on' | 'recovers';

/** On a machine that others use, a spinning process may get little more than this; a waiting one uses none. */
const SPIN_CORES = 0.1;

/** In one word: what the first call after the fault did. */
export function outcomeOf({ stages, hang }: FaultStory): Outcome {
  const first = stages.find(({ event }) => event !== 'begin');
  if (first?.event === 'raised') return 'raises';
  return hang !== null && first === undefined ? 'hangs' : 'goes on';
}

function stageText({ stage, event, error, steps, afterS }: AnswerOf<'stage'>): string {
  const after = afterS === undefined ? '' : ` after ${afterS < 1 ? `${Math.round(afterS * 1000)} ms` : `${afterS.toFixed(1)} s`}`;
  if (event === 'raised') return `${stage}: ${error ?? 'an error'}${after}`;
  return steps === undefined || steps === 0
    ? `${stage}: ok`
    : `${stage}: ${steps.toLocaleString('en-US')} steps went on as if nothing were`;
}

/** The line. */
export function tellStory({ stages, hang, orphans }: FaultStory): string {
  const told = stages.filter(({ event, stage }) => event !== 'begin' && stage !== 'end').map(stageText);
  if (hang !== null) {
    const how = hang.cores >= SPIN_CORES ? `spins, ${hang.cores.toFixed(1)} cores` : 'waits';
    told.push(`${hang.stage}: no end in ${hang.seconds.toFixed(0)} s (${how})`);
  }
  if (orphans !== null && orphans > 0)
    told.push(`${orphans} ${orphans === 1 ? 'process lives' : 'processes live'} on after the program was killed`);
  return told.join('; ');
}
