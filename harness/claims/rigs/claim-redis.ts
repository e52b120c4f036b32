// A redis-server for a claim: the one of the fault matrix, on a unix socket in the claim's folder. Where the machine has setsid and setpriv,
// Ctrl-C does not reach it (the round at hand ends in order), and it also ends when this process is killed.
import { commandProblem } from '../../chaos/machine-needs.js';
import { type RigServer, rigServer } from '../../chaos/redis-rig-server.js';

const WRAPPERS = [['setsid'], ['setpriv', '--pdeathsig', 'KILL']] as const;

export interface ClaimRedisOptions {
  readonly dir: string;
  /** Command in front of it: the way into a network namespace. */
  readonly through?: readonly string[];
  /** 0: only the socket. */
  readonly port?: number;
}

export function claimRedis({ dir, through = [], port = 0 }: ClaimRedisOptions): RigServer {
  const wrappers = WRAPPERS.filter(([name, ...args]) => commandProblem(name, [...args, 'true']) === null).flat();
  return rigServer({ dir, through: [...through, ...wrappers], port });
}
