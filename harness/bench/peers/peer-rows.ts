// The rows of the side-by-side table: what is asked of whom, with what sizes. Every contender of a row does the same work; who cannot do it
// stands in the row all the same, with the reason.
import type { Plan } from '../../contract/plan.js';
import { backendProblem } from '../../ladder/backend-probe.js';
import type { OwnSpec } from './own-driver.js';
import { FAULTS } from './own-fault.js';
import { type PeerName, type PeerSystem, type Room, refusal, systemOf } from './peer-systems.js';
import type { VenvName } from './peer-venvs.js';

export interface Contender {
  readonly id: string;
  readonly peer: PeerName | 'envladder';
  readonly label: string;
  readonly venv: VenvName | null;
  /** A file of drivers/, or envladder's own driver. */
  readonly driver: 'own' | 'steps.py' | 'training.py' | 'faults.py';
  readonly spec: object;
  /** Why it cannot do this row; null = it is measured. */
  readonly no: string | null;
}

export interface PeerRow {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  readonly measure: 'windows' | 'start' | 'learn' | 'fault';
  readonly contenders: readonly Contender[];
}

type Task = 'cartpole' | 'dict';

function stepper(id: string, task: Task, envs: number, room: Room): Contender {
  const system: PeerSystem = systemOf(id);
  const own = system.peer === 'envladder';
  const spec = own ? ({ task, envs } satisfies OwnSpec) : { system: id, task, envs };
  const no = refusal(system, task, envs, room);
  return { id, peer: system.peer, label: system.label, venv: system.venv, driver: own ? 'own' : 'steps.py', spec, no };
}

const STEPPERS = [
  'own',
  'gym-sync',
  'gym-async',
  'gym-numpy',
  'envpool',
  'envpool-1',
  'puffer-c',
  'puffer-1',
  'puffer-2',
  'sb3-dummy',
  'sb3-subproc',
];
/** 7,000 observations of 151 kB in a ring of two are 2 GB on our side and as much on each peer's: rows of this task stay at these sizes. */
const DICT_ENVS = [64, 256];
const CARTPOLE_ENVS = [64, 1000, 7000];
const START_ENVS = [1000, 7000];

function stepRows(room: Room): PeerRow[] {
  const row = (task: Task, envs: number, title: string, unit: string): PeerRow => ({
    name: `${task}_${envs}`,
    title,
    unit,
    better: 'higher',
    measure: 'windows',
    contenders: STEPPERS.map((id) => stepper(id, task, envs, room)),
  });
  return [
    ...CARTPOLE_ENVS.map((envs) => row('cartpole', envs, `CartPole-v1, ${envs} envs, random actions`, 'steps/s')),
    ...DICT_ENVS.map((envs) => row('dict', envs, `rgb 224x224x3 + state 128 + vector 64, ${envs} envs, a step is three fills`, 'obs/s')),
  ];
}

function startRows(room: Room): PeerRow[] {
  return START_ENVS.map((envs) => ({
    name: `start_${envs}`,
    title: `CartPole-v1, ${envs} envs, to the first full batch (imports excluded)`,
    unit: 's',
    better: 'lower',
    measure: 'start',
    contenders: STEPPERS.map((id) => stepper(id, 'cartpole', envs, room)),
  }));
}

const NO_LEARNER = {
  gymnasium: 'brings no learner; "torch PPO" below is one over its vector env',
  envpool: 'brings no learner',
  puffer: 'its trainer needs a torch extension and CUDA tools that this set-up leaves out',
} as const;

function noLearners(): Contender[] {
  return Object.entries(NO_LEARNER).map(([peer, no]) => ({
    id: `${peer}-ppo`,
    peer: peer as PeerName,
    label: peer === 'puffer' ? 'pufferlib' : peer,
    venv: null,
    driver: 'training.py',
    spec: {},
    no,
  }));
}

function ownTrainer(label: string, backend: Plan['backend'], spec: OwnSpec): Contender {
  return { id: `own-${backend}`, peer: 'envladder', label, venv: null, driver: 'own', spec, no: backendProblem(backend) };
}

function trainer(id: string, label: string, system: 'sb3' | 'torch', config: object, threads: number | null, seed = 1): Contender {
  // The torch PPO steps gymnasium's own vector env: it is gymnasium's column. It needs the environment that holds torch.
  const peer = system === 'sb3' ? 'sb3' : 'gymnasium';
  return { id, peer, label, venv: 'sb3', driver: 'training.py', spec: { system, config, threads, seed }, no: null };
}

interface PpoSize {
  readonly envs: number;
  readonly horizon: number;
  readonly minibatch: number;
  readonly epochs: number;
}

/** `defaults`: with SB3 as it comes, whose sizes are its own. */
function ppoRow(size: PpoSize, defaults: boolean): PeerRow {
  const { envs, horizon, minibatch, epochs } = size;
  const own = (backend: Plan['backend']): Contender =>
    ownTrainer(`envladder, ${backend}`, backend, {
      task: 'ppo',
      envs,
      backend,
      // targetKl 0: an early stop would skip epochs and flatter the figure. Tanh, because the peers' nets are tanh.
      ppo: { horizon, minibatch, epochs, targetKl: 0, hidden: [64, 64], activation: 'tanh' },
    });
  const torch = { ...size, gamma: 0.99, lam: 0.95, learning_rate: 3e-4, entropy: 0.01, schedule_steps: 0 };
  const sb3 = { envs, schedule_steps: 0, options: { n_steps: horizon, batch_size: minibatch, n_epochs: epochs } };
  return {
    name: `ppo_${envs}`,
    title: `PPO on CartPole-v1, ${envs} x ${horizon}, minibatch ${minibatch}, ${epochs} epochs, 64-64 tanh, CPU`,
    unit: 'steps/s',
    better: 'higher',
    measure: 'windows',
    contenders: [
      own('wasm'),
      own('tfjs-node'),
      trainer('torch-1', 'torch PPO over gymnasium, 1 thread', 'torch', torch, 1),
      trainer('torch', 'torch PPO over gymnasium, its own threads', 'torch', torch, null),
      trainer('sb3-ppo', 'SB3 PPO, the same sizes', 'sb3', sb3, null),
      ...(defaults
        ? [trainer('sb3-ppo-defaults', 'SB3 PPO, all defaults, 8 envs', 'sb3', { envs: 8, schedule_steps: 0, options: {} }, null)]
        : []),
      ...noLearners(),
    ],
  };
}

/** The plan ladders/learn-cartpole.yaml in the words of each learner, and SB3 as its users run it. */
function learnRow(): PeerRow {
  const own = (backend: Plan['backend']): Contender =>
    ownTrainer(`envladder, ${backend}, plan learn-cartpole`, backend, { task: 'learn', seed: 1, backend });
  const torch = {
    envs: 64,
    horizon: 32,
    minibatch: 256,
    epochs: 10,
    gamma: 0.98,
    lam: 0.8,
    learning_rate: 1e-3,
    entropy: 0,
    schedule_steps: 300_000,
  };
  const same = {
    envs: 64,
    schedule_steps: 300_000,
    options: {
      n_steps: 32,
      batch_size: 256,
      n_epochs: 10,
      gamma: 0.98,
      gae_lambda: 0.8,
      ent_coef: 0,
      learning_rate: { linear_from: 1e-3 },
    },
  };
  // The tuned set that SB3's own model zoo gives for this env.
  const tuned = {
    envs: 8,
    schedule_steps: 100_000,
    options: { ...same.options, n_epochs: 20, clip_range: { linear_from: 0.2 } },
  };
  return {
    name: 'learn_475',
    title: 'PPO on CartPole-v1 until the mean of 100 training episodes reaches 475',
    unit: 's',
    better: 'lower',
    measure: 'learn',
    contenders: [
      own('wasm'),
      own('tfjs-node'),
      trainer('torch-1', 'torch PPO over gymnasium, same hyper-parameters, 1 thread', 'torch', torch, 1),
      trainer('sb3-same', 'SB3 PPO, same hyper-parameters, 1 thread', 'sb3', same, 1),
      trainer('sb3-tuned', 'SB3 PPO, its tuned set, 8 envs, 1 thread', 'sb3', tuned, 1),
      trainer('sb3-defaults', 'SB3 PPO, all defaults, 1 env, 1 thread', 'sb3', { envs: 1, schedule_steps: 0, options: {} }, 1),
      ...noLearners(),
    ],
  };
}

const FAULT_TITLES = {
  kill: 'SIGKILL of the process that holds env 3 of 8',
  hang: 'env 3 of 8 never returns from step 50',
  raise: 'env 3 of 8 raises in step 50',
} as const;
/** In process: what the env does happens to the program itself. */
const IN_PROCESS = 'everything runs in the caller’s process: a crash or a hang there is the program’s own';

function faultRows(): PeerRow[] {
  const isolated = ['gym-async', 'puffer-2', 'sb3-subproc'];
  const inside = ['gym-sync', 'envpool', 'sb3-dummy'];
  return FAULTS.map((fault) => ({
    name: `fault_${fault}`,
    title: FAULT_TITLES[fault],
    unit: '',
    better: 'lower',
    measure: 'fault',
    contenders: ['own', ...isolated, ...inside].map((id): Contender => {
      const { peer, label, venv } = systemOf(id);
      const own = peer === 'envladder';
      return {
        id,
        peer,
        label: own ? 'envladder, 2 workers' : label,
        venv,
        driver: own ? 'own' : 'faults.py',
        spec: own ? { task: 'fault', fault } : { system: id, fault },
        no: inside.includes(id) ? IN_PROCESS : null,
      };
    }),
  }));
}

/** Every row, in the order of the table. */
export function peerRows(room: Room): PeerRow[] {
  return [
    ...stepRows(room),
    ppoRow({ envs: 64, horizon: 256, minibatch: 4096, epochs: 10 }, true),
    ppoRow({ envs: 1024, horizon: 32, minibatch: 8192, epochs: 4 }, false),
    learnRow(),
    ...startRows(room),
    ...faultRows(),
  ];
}
