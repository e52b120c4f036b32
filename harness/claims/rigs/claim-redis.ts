// A redis-server for a claim: the one of the fault matrix, on a unix socket in the claim's folder, that also ends when this process is killed,
// where the machine has setpriv.
import { commandProblem } from '../../chaos/machine-needs.js';
import { type RigServer, rigServer } from '../../chaos/redis-rig-server.js';

const DIES_WITH_US = ['setpriv', '--pdeathsig', 'KILL'] as const;

export interface ClaimRedisOptions {
  readonly dir: string;
  /** Command in front of it: the way into a network namespace. */
  readonly through?: readonly string[];
  /** 0: only the socket. */
  readonly port?: number;
}

export function claimRedis({ dir, through = [], port = 0 }: ClaimRedisOptions): RigServer {
  const dying = commandProblem(DIES_WITH_US[0], [...DIES_WITH_US.slice(1), 'true']) === null ? DIES_WITH_US : [];
  return rigServer({ dir, through: [...through, ...dying], port });
}
