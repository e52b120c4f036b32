// The options `--serve [port]` and `--prometheus`: opens the live page's server before anything of the run starts, and says where it is.
import { EnvladderError } from '../contract/errors.js';
import { TOKEN_VARIABLE } from '../live/access.js';
import { type LiveServer, startLiveServer } from '../live/live-server.js';

export interface LiveFlags {
  readonly serve?: string | true;
  readonly prometheus?: boolean;
}

const MAX_PORT = 65_535;

/** The port that `--serve` names; 0 = any free one. Throws `bad-usage`. */
export function portOf(serve: string | true | undefined): number {
  if (serve === undefined || serve === true) return 0;
  const port = Number(serve);
  if (/^\d{1,5}$/.test(serve) && port <= MAX_PORT) return port;
  throw new EnvladderError('bad-usage', `--serve ${serve}: a port is a whole number from 0 to ${MAX_PORT}; leave it out for any free one`);
}

/** Null when nothing was asked for. `say` prints a line that a person must see. */
export async function openLivePage(flags: LiveFlags, say: (line: string) => void): Promise<LiveServer | null> {
  const page = flags.serve !== undefined;
  const metrics = flags.prometheus === true;
  if (!page && !metrics) return null;
  const port = portOf(flags.serve);
  const live = await startLiveServer({ port, page, metrics, token: process.env[TOKEN_VARIABLE], onTrouble: say });
  if (live.pageUrl !== null) say(`live page  ${live.pageUrl}`);
  if (live.metricsUrl !== null) say(`metrics    ${live.metricsUrl}  (Authorization: Bearer ${live.token})`);
  return live;
}
