// Faults on demand, for tests and chaos runs: ENVLADDER_TEST_FAULT makes an update of the learner go wrong in a chosen way. Absent, it costs
// nothing: the networks are wrapped only when it is set. Read once, by the learner's entry; a word that does not parse is refused.
//
//   ENVLADDER_TEST_FAULT=KIND@N[-M][*]   at update N (to M), counted from 1 over all policies of a learner process
//     nan-loss      the network's outputs are NaN, so the loss is
//     nan-gradient  the gradient is NaN
//     nan-weights   the weights are NaN after a gradient step
//     throw         the backend throws
//     freeze        the event loop stands still for ever
//   Without `*` only the first life of a run's learner obeys, so that a restarted one goes on.
import { EnvladderError } from '../contract/errors.js';
import type { ActorCritic } from './actor-critic.js';

export const TEST_FAULT_VARIABLE = 'ENVLADDER_TEST_FAULT';
export const TEST_FAULT_KINDS = ['nan-loss', 'nan-gradient', 'nan-weights', 'throw', 'freeze'] as const;

export interface TestFault {
  readonly kind: (typeof TEST_FAULT_KINDS)[number];
  /** Updates that go wrong, from 1, both ends included. */
  readonly first: number;
  readonly last: number;
  readonly everyLife: boolean;
}

/** Null when the variable is absent or empty. Throws `bad-usage` for anything that is no fault. */
export function parseTestFault(text: string | undefined): TestFault | null {
  if (text === undefined || text === '') return null;
  const [, kind, first, last, everyLife] = /^([a-z-]+)@(\d{1,9})(?:-(\d{1,9}))?(\*)?$/.exec(text) ?? [];
  const known = TEST_FAULT_KINDS.find((one) => one === kind);
  const from = Number(first);
  const to = last === undefined ? from : Number(last);
  if (known === undefined || !(from >= 1) || to < from) {
    throw new EnvladderError(
      'bad-usage',
      `${TEST_FAULT_VARIABLE}='${text}' is no fault. Say KIND@N or KIND@N-M, with KIND one of ${TEST_FAULT_KINDS.join(', ')} and N from 1, or unset it`,
    );
  }
  return { kind: known, first: from, last: to, everyLife: everyLife === '*' };
}

export interface FaultInjection {
  /** To be called as each update begins. */
  beginUpdate(): void;
  /** The same network, going wrong while it is due. */
  wrap(network: ActorCritic): ActorCritic;
}

/** Null when this life is to be left alone. */
export function injectFault(fault: TestFault | null, life: number): FaultInjection | null {
  if (fault === null || (life > 0 && !fault.everyLife)) return null;
  let update = 0;
  /** The update whose weights were spoilt already: putting the old ones back must work. */
  let spoilt = 0;
  const due = (): boolean => update >= fault.first && update <= fault.last;
  return {
    beginUpdate: () => void update++,
    wrap: (network) => ({
      ...network,
      gradients(planes, count, outputGradient) {
        if (!due()) return network.gradients(planes, count, outputGradient);
        if (fault.kind === 'throw') throw new Error(`${TEST_FAULT_VARIABLE}: the backend failed in update ${update}`);
        if (fault.kind === 'freeze') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        const gradients = network.gradients(planes, count, (outputs, ...rest) => {
          outputGradient(fault.kind === 'nan-loss' ? outputs.map(() => Number.NaN) : outputs, ...rest);
        });
        return fault.kind === 'nan-gradient' ? gradients.map((gradient) => gradient.map(() => Number.NaN)) : gradients;
      },
      upload() {
        if (due() && fault.kind === 'nan-weights' && spoilt !== update) {
          spoilt = update;
          network.parameters[0]?.data.fill(Number.NaN, 0, 1);
        }
        network.upload();
      },
    }),
  };
}
