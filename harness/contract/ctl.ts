// Commands to a running ladder: through the control socket in its run folder, or the Redis command stream. One JSON object a line, at most
// MAX_CTL_BYTES; anything else is refused and counted. Answers come in the order of the commands of a connection.
import { z } from 'zod';

export const CTL_SOCKET_NAME = 'ctl.sock';
export const MAX_CTL_BYTES = 16_384;

const envId = z.int().min(0).max(1_000_000);
/** Same id twice = the same command: it is answered from memory, not obeyed again. */
const id = z.string().min(1).max(100);

export const ctlCommandSchema = z.discriminatedUnion('command', [
  z.strictObject({ id, command: z.literal('status') }),
  /** A new process with the code that lies on the disk now takes the worker's range; nothing is lost but its open trajectories. */
  z.strictObject({ id, command: z.literal('replace-worker'), worker: z.int().min(0).max(255) }),
  z.strictObject({ id, command: z.literal('quarantine'), envId }),
  /** Ends a quarantine: the env is built anew. */
  z.strictObject({ id, command: z.literal('release'), envId }),
  z.strictObject({ id, command: z.literal('checkpoint') }),
]);
export type CtlCommand = z.output<typeof ctlCommandSchema>;

export interface CtlAnswer {
  readonly id: string;
  readonly ok: boolean;
  /** A sentence for people. */
  readonly message: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}
