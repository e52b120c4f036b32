// The denominator of cartpole_vs_bare: runs the bare loop in a child process for about as long as a window of the rig.
import { entryUrl, spawnChild } from '../supervisor/spawn.js';
import type { BareAnswer, BareOrder } from './bare-child.js';
import type { RigKind } from './rig-plan.js';

export interface BareRig {
  /** Runs for about `ms`; steps a second, resets not counted as steps. */
  run(ms: number): Promise<{ readonly steps: number; readonly seconds: number }>;
  close(): Promise<void>;
}

/** Starts the child and finds out how many rounds fill a millisecond. */
export async function raiseBareRig(envs: number, { kind, config = {} }: RigKind): Promise<BareRig> {
  const child = spawnChild<BareOrder, BareAnswer>(entryUrl('../bench/bare-child'), []);
  let settle: (answer: BareAnswer) => void = () => undefined;
  child.channel.onMessage((answer) => settle(answer));
  void child.exit.then((status) => settle({ error: `the child ended: ${status.cause} ${status.outputTail}` }));
  async function order(rounds: number): Promise<{ steps: number; seconds: number }> {
    const answer = await new Promise<BareAnswer>((resolve) => {
      settle = resolve;
      child.channel.send({ kind, config, envs, rounds });
    });
    if ('error' in answer) throw new Error(`bare loop (${kind}): ${answer.error}`);
    return answer;
  }
  await order(20);
  const warm = await order(200);
  const roundsPerMs = 200 / (warm.seconds * 1000);
  return {
    run: (ms) => order(Math.max(1, Math.round(ms * roundsPerMs))),
    async close() {
      child.channel.close();
      child.kill('SIGTERM');
      await child.exit;
    },
  };
}
