// "A round trip on the loopback takes at least 0.1 ms": one byte there and back between two threads over TCP, a unix socket, pipes, a futex and by
// spinning, with blocking calls and nothing else in the way; and TCP once more through two event loops, as a service in Node has it.
import { once } from 'node:events';
import { connect } from 'node:net';
import { loadNative, ROUND_TRIP_WAYS, type RoundTripWay } from '../../../native/index.js';
import type { Claim, ClaimContext, Measured, Samples, Taken } from '../claim.js';
import { startClaimThread } from '../entry-url.js';

function taken(times: Float64Array): Taken {
  const rising = times.slice().sort();
  const at = (share: number): number => (rising[Math.min(rising.length - 1, Math.floor(rising.length * share))] as number) / 1000;
  return { 'p50-us': at(0.5), 'p99-us': at(0.99) };
}

interface LoopWay {
  readonly run: (rounds: number) => Promise<Float64Array>;
  readonly close: () => Promise<void>;
}

async function openLoopWay(): Promise<LoopWay> {
  const peer = startClaimThread('echo-peer', { name: 'echo-peer' });
  const [{ port }] = (await once(peer, 'message')) as [{ port: number }];
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  await once(socket, 'connect');
  const byte = Buffer.of(1);
  return {
    async run(rounds) {
      const times = new Float64Array(rounds);
      for (let i = 0; i < rounds; i++) {
        const answer = once(socket, 'data');
        const began = performance.now();
        socket.write(byte);
        await answer;
        times[i] = (performance.now() - began) * 1e6;
      }
      return times;
    },
    async close() {
      socket.destroy();
      await peer.terminate();
    },
  };
}

async function takeAll(context: ClaimContext, rounds: number): Promise<Samples> {
  const native = loadNative();
  const loop = await openLoopWay();
  const bare = (way: RoundTripWay) => [way, () => taken(native.timeRoundTrips(way, rounds))] as const;
  try {
    return await context.interleave(
      { ...Object.fromEntries(ROUND_TRIP_WAYS.map(bare)), 'tcp-event-loop': async () => taken(await loop.run(rounds)) },
      { warmUps: 1 },
    );
  } finally {
    await loop.close();
  }
}

async function run(context: ClaimContext): Promise<Measured> {
  const rounds = context.pick({ full: 5000, quick: 1000, tiny: 50 });
  return {
    samples: await takeAll(context, rounds),
    conditions: {
      rounds: `${rounds} of one byte per repeat, one at a time`,
      ends: "two threads of one process; cores are the scheduler's choice",
    },
    notes: [
      'A median below the bound on a busy machine stands all the more; one above it may be the neighbours: see p99 and the cores that others used.',
      'Between learner and worker envladder spins for 10 µs and then sleeps on a futex.',
    ],
  };
}

export const rtt01ms: Claim = {
  id: 'rtt-0.1ms',
  said: { text: 'a round trip on the loopback takes at least 0.1 ms, so that sockets cannot keep up', value: 100, unit: 'µs' },
  question: 'How long does one byte take there and back between two threads of this machine?',
  register: () => ({
    sides: [
      { name: 'tcp', role: 'account', what: 'TCP on 127.0.0.1, no delay, blocking reads and writes' },
      { name: 'futex', role: 'envladder', what: 'a word in shared memory, sleeping on a futex at once' },
      { name: 'spin', role: 'envladder', what: 'the same word, never sleeping' },
      { name: 'unix', role: 'reference', what: 'a pair of unix sockets' },
      { name: 'pipe', role: 'reference', what: 'two pipes' },
      { name: 'tcp-event-loop', role: 'reference', what: 'TCP again, through the event loops of two Node threads' },
    ],
    metrics: [
      { id: 'p50-us', name: 'median round trip', unit: 'µs', better: 'lower', kind: 'time' },
      { id: 'p99-us', name: '99th percentile', unit: 'µs', better: 'lower', kind: 'time' },
    ],
    rule: 'held when the median round trip over TCP takes at least 100 µs',
    rules: [{ type: 'value', metric: 'p50-us', side: 'tcp', relation: 'at-least', bound: 100 }],
    tests: 'figure',
    method: 'The time of every single round trip is taken; a repeat gives the median and the 99th percentile of its rounds.',
  }),
  needs: () => null,
  run,
};
