// The bare loop's process: the same kind, the same number of envs, autoreset, no shared memory, alone in a process of its own like the
// worker it stands in for. Answers each order with one timed run; keeps its compiled code warm between orders.
import { ipcChannel } from '../bus/ipc-channel.js';
import { runBareLoop } from '../envs/bare-loop.js';
import { createRegistry, resolveKind } from '../envs/registry.js';

export interface BareOrder {
  readonly kind: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly envs: number;
  readonly rounds: number;
}

export type BareAnswer = { readonly steps: number; readonly seconds: number } | { readonly error: string };

const channel = ipcChannel<BareAnswer, BareOrder>(process);
channel.onClose(() => process.exit(0));
const registry = await createRegistry();
channel.onMessage((order) => {
  const kind = resolveKind(registry, order.kind, order.config);
  runBareLoop(kind, { envs: order.envs, rounds: order.rounds }).then(
    ({ steps, seconds }) => channel.send({ steps, seconds }),
    (error: unknown) => channel.send({ error: String(error) }),
  );
});
