// Command line of `npm run bench -- --peers [NAMES]`. The flag's value may be left out, which node:util cannot say: it is taken apart here.
import { parseArgs } from 'node:util';
import { EnvladderError } from '../../contract/errors.js';
import { PEERS, type PeerName } from './peer-systems.js';

export interface PeerArguments {
  readonly peers: readonly PeerName[];
  /** Row names; empty = all. A name that ends in * stands for all that begin so. */
  readonly only: readonly string[];
  readonly quick: boolean;
  readonly json: boolean;
  readonly list: boolean;
  readonly help: boolean;
  readonly seed: number;
  readonly patienceS: number;
}

const DEFAULT_PATIENCE_S = 30;

export const PEERS_USAGE = `usage: npm run bench -- --peers [${PEERS.join(',')}] [--only ROW[,ROW]] [--quick] [--json] [--seed N] [--patience SECONDS] [--list]
  --peers     put envladder beside these (all without a value); Python and its packages are fetched into the cache folder at first use
  --only      only these rows (--list shows them; cartpole* is all that begin so)
  --json      exactly {machine, taken, quick, rows} on stdout; progress goes to stderr
  --seed      of the random order in each round (1)
  --patience  seconds a row may wait for other work on the machine to end (30); 0: take every window once, disturbed or not
  --quick     one short round: shows that it runs, the figures mean little`;

function usageError(message: string): EnvladderError {
  return new EnvladderError('bad-usage', `bench --peers: ${message}\n${PEERS_USAGE}`);
}

/** Whether the bench was asked for peers. */
export function asksForPeers(argv: readonly string[]): boolean {
  return argv.some((argument) => argument === '--peers' || argument.startsWith('--peers='));
}

/** `--peers` without a value becomes `--peers=` with all of them. */
function withValue(argv: readonly string[]): string[] {
  return argv.map((argument, index) => {
    const bare = argument === '--peers' && (argv[index + 1] === undefined || argv[index + 1]?.startsWith('-'));
    return bare ? `--peers=${PEERS.join(',')}` : argument;
  });
}

function isPeer(name: string): name is PeerName {
  return (PEERS as readonly string[]).includes(name);
}

const words = (text: string): string[] => text.split(',').filter((word) => word !== '');

/** Parses the arguments after `main.js`. Throws `bad-usage`. */
export function parsePeerArguments(argv: readonly string[]): PeerArguments {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  let values: {
    peers?: string;
    only?: string;
    seed?: string;
    patience?: string;
    quick: boolean;
    json: boolean;
    list: boolean;
    help: boolean;
  };
  try {
    values = parseArgs({
      args: withValue(argv),
      options: { peers: text, only: text, seed: text, patience: text, quick: flag, json: flag, list: flag, help: flag },
    }).values;
  } catch (error) {
    throw usageError((error as Error).message);
  }
  const names = words(values.peers ?? '');
  if (names.length === 0) throw usageError(`--peers: name one of ${PEERS.join(', ')}, or leave the value out for all`);
  for (const name of names) if (!isPeer(name)) throw usageError(`unknown peer '${name}', known: ${PEERS.join(', ')}`);
  const seed = Number(values.seed ?? 1);
  if (!Number.isSafeInteger(seed) || seed < 0) throw usageError(`--seed ${values.seed}: must be a whole number, 0 or more`);
  const patienceS = Number(values.patience ?? DEFAULT_PATIENCE_S);
  if (!(patienceS >= 0)) throw usageError(`--patience ${values.patience}: must be a number of seconds, 0 or more`);
  const { quick, json, list, help } = values;
  return { peers: names.filter(isPeer), only: words(values.only ?? ''), seed, patienceS, quick, json, list, help };
}

/** The rows that `only` asks for. Throws `bad-usage` on a name that no row has. */
export function chooseRows<Row extends { readonly name: string }>(rows: readonly Row[], only: readonly string[]): Row[] {
  const asked = (row: Row, name: string): boolean => (name.endsWith('*') ? row.name.startsWith(name.slice(0, -1)) : row.name === name);
  for (const name of only) {
    if (!rows.some((row) => asked(row, name))) {
      throw usageError(`unknown row '${name}', known: ${rows.map((row) => row.name).join(', ')}`);
    }
  }
  return only.length === 0 ? [...rows] : rows.filter((row) => only.some((name) => asked(row, name)));
}
