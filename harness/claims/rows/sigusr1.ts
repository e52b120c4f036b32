// "SIGUSR1 to the own process group is the heartbeat": one group of workers and helper programs, watched by signals and answers, and by progress
// lines in shared memory that are judged from outside. What is noticed, and what becomes of those that never heard of heartbeats.

import { entryUrl, spawnChild } from '../../supervisor/spawn.js';
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import type { GroupAnswer, GroupOrder } from '../rigs/signal-words.js';

const STUCK = ['spins', 'waits'] as const;

async function watchOnce(order: GroupOrder): Promise<Taken> {
  const group = spawnChild<GroupOrder, GroupAnswer | { readonly error: string }>(entryUrl('../claims/entries/signal-group'), []);
  const answer = new Promise<GroupAnswer | { readonly error: string }>((settle) => {
    group.channel.onMessage(settle);
    void group.exit.then(({ cause, outputTail }) => settle({ error: `the group's leader ended: ${cause} ${outputTail}` }));
  });
  group.channel.send(order);
  try {
    const said = await answer;
    if ('error' in said) throw new Error(said.error);
    const noticed = STUCK.filter((member) => said.noticedMs[member] !== undefined);
    return {
      killed: said.killed,
      inspectors: said.inspectors,
      'stuck-noticed': noticed.length / STUCK.length,
      'waiting-noticed': said.noticedMs.waits === undefined ? 0 : 1,
      'healthy-suspected': said.noticedMs.steps === undefined ? 0 : 1,
    };
  } finally {
    group.kill('SIGKILL');
    await group.exit;
  }
}

async function run(context: ClaimContext): Promise<Measured> {
  const { beatMs, deadlineMs } = context.pick({
    full: { beatMs: 500, deadlineMs: 2000 },
    quick: { beatMs: 250, deadlineMs: 1000 },
    tiny: { beatMs: 100, deadlineMs: 1000 },
  });
  const order = { beatMs, deadlineMs, lookMs: 2 * deadlineMs };
  const samples = await context.interleave({
    sigusr1: () => watchOnce({ ...order, watch: 'sigusr1' }),
    progress: () => watchOnce({ ...order, watch: 'progress' }),
  });
  return {
    samples,
    conditions: {
      group:
        'three workers (one steps; one whose step spins; one whose step waits for what never comes while its event loop turns), one program started by exec, one Node process without a handler',
      watch: `a beat each ${beatMs} ms, a worker without a sign for ${deadlineMs} ms is noticed, watched for ${order.lookMs} ms`,
      node: process.version,
    },
    notes: [
      'The program started by exec stands for browsers, bridges and compilers: SIGUSR1 ends whoever has no handler for it (signal(7)).',
    ],
  };
}

export const sigusr1: Claim = {
  id: 'sigusr1',
  said: { text: 'a SIGUSR1 to the own process group serves as heartbeat: who does not answer is stuck', value: null, unit: '' },
  question: 'Does the signal find stuck steps, and does the rest of the group survive it?',
  register: () => ({
    sides: [
      {
        name: 'sigusr1',
        role: 'account',
        what: 'the leader signals its own group; workers answer from their handler; silence is a stuck worker',
      },
      {
        name: 'progress',
        role: 'envladder',
        what: 'workers stamp what they do in shared memory; the leader judges how long a step has been in work',
      },
    ],
    metrics: [
      { id: 'killed', name: 'processes killed by the heartbeat', unit: 'of 1', better: 'lower', kind: 'count' },
      { id: 'inspectors', name: 'debuggers opened by the heartbeat', unit: 'of 1', better: 'lower', kind: 'count' },
      { id: 'stuck-noticed', name: 'stuck steps noticed', unit: 'share', better: 'higher', kind: 'share' },
      { id: 'waiting-noticed', name: 'stuck steps noticed that leave the event loop free', unit: 'share', better: 'higher', kind: 'share' },
      { id: 'healthy-suspected', name: 'healthy workers taken for stuck', unit: 'share', better: 'lower', kind: 'share' },
    ],
    rule: 'held when the signal kills nobody, opens no debugger, and finds every stuck step',
    rules: [
      { type: 'value', metric: 'killed', side: 'sigusr1', relation: 'at-most', bound: 0 },
      { type: 'value', metric: 'inspectors', side: 'sigusr1', relation: 'at-most', bound: 0 },
      { type: 'value', metric: 'stuck-noticed', side: 'sigusr1', relation: 'at-least', bound: 1 },
    ],
    tests: 'direction',
    method:
      'The same group is started anew for each repeat and watched for the same time with the same deadline; only the way of watching differs.',
  }),
  needs: () => null,
  run,
};
