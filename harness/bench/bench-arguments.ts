// Command line of `npm run bench`: which benches, how long, in what form. Unknown names are refused with the known ones beside them.
import { parseArgs } from 'node:util';
import { EnvladderError } from '../contract/errors.js';
import { ROWS, type RowName } from './bars.js';
import type { Bench } from './bench.js';

export interface BenchArguments {
  /** Null: all but `learning`, which takes minutes. */
  readonly suite: Bench['suite'] | null;
  /** Benches that yield one of these rows; empty = all of the suite. */
  readonly only: readonly RowName[];
  readonly json: boolean;
  readonly quick: boolean;
  /** Seconds that one row's windows may wait for a quiet machine. */
  readonly patienceS: number;
  readonly list: boolean;
  readonly help: boolean;
}

/** A compile or a test that has just ended is over by then. */
const DEFAULT_PATIENCE_S = 5;

export const SUITES = ['micro', 'process', 'ppo', 'learning'] as const satisfies readonly Bench['suite'][];

export const USAGE = `usage: npm run bench -- [--suite ${SUITES.join('|')}] [--only NAME[,NAME]] [--json] [--quick] [--patience SECONDS] [--list]
  --suite  one suite; without it all but learning, which takes minutes (npm run bench:learning)
  --only   only the benches that print these rows (--list shows the names; group_* is all that begin so)
  --json   exactly {machine, results} on stdout; progress goes to stderr
  --patience  seconds a row may wait for other work on the machine to end (5)
  --quick  short windows: shows that a bench runs, its figures mean little
  --peers  instead: envladder beside gymnasium, envpool, pufferlib and SB3 (--peers --help)`;

function usageError(message: string): EnvladderError {
  return new EnvladderError('bad-usage', `bench: ${message}\n${USAGE}`);
}

function isRowName(name: string): name is RowName {
  return Object.hasOwn(ROWS, name);
}

/** `group_*`: all rows that begin so. A pattern without any stays as it is and is refused by name. */
function rowsOf(name: string): string[] {
  const rows = name.endsWith('*') ? Object.keys(ROWS).filter((row) => row.startsWith(name.slice(0, -1))) : [];
  return rows.length === 0 ? [name] : rows;
}

/** Parses the arguments after `main.js`. Throws `bad-usage`. */
export function parseBenchArguments(argv: readonly string[]): BenchArguments {
  const flag = { type: 'boolean', default: false } as const;
  let values: { suite?: string; only?: string[]; patience?: string; json: boolean; quick: boolean; list: boolean; help: boolean };
  try {
    values = parseArgs({
      args: [...argv],
      options: {
        suite: { type: 'string' },
        only: { type: 'string', multiple: true },
        patience: { type: 'string' },
        json: flag,
        quick: flag,
        list: flag,
        help: flag,
      },
    }).values;
  } catch (error) {
    throw usageError((error as Error).message);
  }
  const suite = SUITES.find((known) => known === values.suite) ?? null;
  if (values.suite !== undefined && suite === null) throw usageError(`unknown suite '${values.suite}', known: ${SUITES.join(', ')}`);
  const only = (values.only ?? [])
    .flatMap((names) => names.split(','))
    .filter((name) => name !== '')
    .flatMap(rowsOf);
  for (const name of only) if (!isRowName(name)) throw usageError(`unknown row '${name}', known: ${Object.keys(ROWS).join(', ')}`);
  const patienceS = Number(values.patience ?? DEFAULT_PATIENCE_S);
  if (!(patienceS >= 0)) throw usageError(`--patience ${values.patience}: must be a number of seconds, 0 or more`);
  return { suite, patienceS, only: only.filter(isRowName), json: values.json, quick: values.quick, list: values.list, help: values.help };
}

/** The benches that the arguments ask for, in table order. `--only` reaches into every suite unless one is named. */
export function chooseBenches(all: readonly Bench[], { suite, only }: BenchArguments): Bench[] {
  return all.filter((bench) => {
    const inSuite = suite === null ? only.length > 0 || bench.suite !== 'learning' : bench.suite === suite;
    return inSuite && (only.length === 0 || bench.rows.some((name) => only.includes(name)));
  });
}
