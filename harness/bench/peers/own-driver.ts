// envladder's driver: the same orders and answers as the Python drivers (drivers/wire.py), over envladder's own processes, so that both
// sides are started, stopped, timed and weighed by the same code. Argument: an OwnSpec as JSON.
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { loadNative } from '../../../native/index.js';
import type { Plan } from '../../contract/plan.js';
import { raiseBenchCrew, withPpo } from '../crew-rig.js';
import { type EnvRig, raiseEnvRig } from '../env-rig.js';
import { learnToReturn } from '../learn-to-return.js';
import { FIELD_RAW, floatOutput } from '../outputs.js';
import { createRigPlan } from '../rig-plan.js';
import { measureTrained, nextUpdate } from '../trained-rate.js';
import { type FaultName, observeOwnFault } from './own-fault.js';
import type { PeerAnswer } from './peer-answer.js';

export type OwnSpec =
  | { readonly task: 'cartpole' | 'dict'; readonly envs: number }
  | { readonly task: 'ppo'; readonly envs: number; readonly backend: Plan['backend']; readonly ppo: Partial<Plan['ppo']> }
  | { readonly task: 'learn'; readonly seed: number; readonly backend: Plan['backend'] }
  | { readonly task: 'fault'; readonly fault: FaultName };

/** Answers an order; null = the order is not one of this task. */
type Obey = (words: readonly string[]) => Promise<PeerAnswer | null>;

interface Task {
  readonly startS: number;
  readonly obey: Obey;
  close(): Promise<void>;
}

/** As the Python drivers: whoever was stopped is awake again by then. */
const WARM_MS = 100;

function stepping(rig: EnvRig): Task {
  return {
    startS: rig.allLiveS,
    obey([word, seconds]) {
      if (word !== 'window') return Promise.resolve(null);
      rig.consume(WARM_MS);
      const took = rig.consume(Number(seconds) * 1000);
      return Promise.resolve({ type: 'window', steps: took.frames, seconds: took.seconds });
    },
    close: () => rig.close(),
  };
}

async function raiseStepping(task: 'cartpole' | 'dict', envs: number): Promise<Task> {
  const module = fileURLToPath(new URL(`./fill-kind${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url));
  const rig =
    task === 'cartpole'
      ? { kind: 'cartpole', outputs: floatOutput('vector') }
      : // A batch of at most 256, as in the field bench: worker and consumer stay in step.
        { kind: 'fill', module, outputs: FIELD_RAW, batchLimit: Math.min(256, Math.max(1, envs >> 1)) };
  return stepping(await raiseEnvRig({ ...rig, envs, actions: 'random' }));
}

async function raiseTraining({ envs, backend, ppo }: Extract<OwnSpec, { task: 'ppo' }>): Promise<Task> {
  const crew = await raiseBenchCrew(withPpo(await createRigPlan(envs, { kind: 'cartpole' }, 'ppo'), backend, ppo));
  let last = await nextUpdate(crew, 0);
  return {
    startS: crew.allLiveS,
    async obey([word, seconds]) {
      if (word !== 'window') return null;
      // Between windows the crew stood still: begin with a fresh update.
      const first = await nextUpdate(crew, last.updates);
      const measured = await measureTrained(crew, first, Number(seconds) * 1000);
      const took = (measured.last.monotonicMs - first.monotonicMs) / 1000;
      last = measured.last;
      return { type: 'window', steps: last.trained - first.trained, seconds: took };
    },
    close: () => crew.stop(),
  };
}

async function raise(spec: OwnSpec): Promise<Task> {
  switch (spec.task) {
    case 'ppo':
      return raiseTraining(spec);
    case 'learn':
      return {
        startS: 0,
        async obey([word, , , limitS]) {
          if (word !== 'learn') return null;
          const learned = await learnToReturn(spec.seed, spec.backend, Number(limitS) * 1000);
          return { type: 'learned', steps: learned?.steps ?? 0, seconds: learned?.seconds ?? null };
        },
        close: () => Promise.resolve(),
      };
    case 'fault':
      return {
        startS: 0,
        obey: async ([word]) => (word === 'go' ? { type: 'observed', ...(await observeOwnFault(spec.fault)) } : null),
        close: () => Promise.resolve(),
      };
    default:
      return raiseStepping(spec.task, spec.envs);
  }
}

const importS = performance.now() / 1000;
// It may be stopped when the bench dies, and would never read the end of its orders.
loadNative().dieWithParent(constants.signals.SIGKILL, process.ppid);
const say = (answer: PeerAnswer): void => void process.stdout.write(`${JSON.stringify(answer)}\n`);
const task = await raise(JSON.parse(process.argv[2] ?? '{}') as OwnSpec);
say({ type: 'ready', importS, startS: task.startS, versions: { node: process.versions.node } });
for await (const line of createInterface({ input: process.stdin })) {
  const words = line.trim().split(/\s+/);
  if (words[0] === 'quit') break;
  const answer = await task.obey(words);
  if (answer === null) throw new Error(`unknown order '${line}'`);
  say(answer);
}
await task.close();
process.exit(0);
