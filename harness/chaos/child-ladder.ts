// An `envladder ladder` of its own process, in a run folder of its own: for the rows about the supervisor, which must be killed, refused,
// starved or signalled from outside. What it does is read from its run folder and from /proc, as anybody else would.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { PlanInput } from '../contract/plan.js';
import type { RunRecord } from '../contract/run-record.js';
import { entryUrl } from '../supervisor/spawn.js';
import type { RowContext } from './chaos-row.js';
import { readEvents, type StoredEvent } from './invariants/kept-events.js';
import { isRunning, statOf } from './leftovers.js';
import { until } from './until.js';

/** Longest output kept per stream. */
const KEPT_CHARACTERS = 65_536;
const START_MS = 60_000;

export interface LadderExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildLadder {
  readonly pid: number;
  readonly dir: string;
  readonly exit: Promise<LadderExit>;
  /** Null while it runs. */
  readonly ended: LadderExit | null;
  stdout(): string;
  stderr(): string;
  /** Lifecycle events on the disk now; empty before there are any. */
  events(): StoredEvent[];
  /** Newest pid of every child it told of. */
  children(): number[];
  record(): RunRecord | null;
  /** Lines of metrics on the disk: one a second while it runs well. */
  metricsLines(): number;
  /** Run time of the newest line of metrics; null before the first. */
  lastMetricsSeconds(): number | null;
  /** Waits until its first tier is live and measured; false at the watchdog or when it ended before. */
  live(): Promise<boolean>;
  kill(signal: NodeJS.Signals): void;
}

export interface ChildLadderOptions {
  readonly plan?: Partial<PlanInput> | Readonly<Record<string, unknown>>;
  /** `plan` is the whole plan, nothing is filled in. */
  readonly exactPlan?: boolean;
  /** Folder of the run; default: one below the row's. */
  readonly dir?: string;
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Command in front of node: ["prlimit", "--nofile=64"], ["unshare", "-mn", "sh", "-c", ...]. */
  readonly through?: readonly string[];
}

/** 2 workers with 20 probes each for ten minutes: a row ends it long before. */
export const CHILD_PLAN: Partial<PlanInput> = {
  name: 'chaos',
  tiers: [40],
  seconds: 600,
  mix: { probe: { share: 1, config: { terminateAt: 50 } } },
  workers: 2,
  learner: 'random',
  stepDeadlineSeconds: 2,
  drainSeconds: 5,
};

/** node and its arguments for the command line of this very program, from sources or from dist. */
export function cliCommand(): string[] {
  const main = fileURLToPath(entryUrl('../cli/main'));
  const loader = main.endsWith('.ts') ? ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href] : [];
  return [process.execPath, ...loader, main];
}

/** The last bytes of a file that may be long; empty when it is not there. */
function tailOf(path: string): string {
  try {
    const fd = openSync(path, 'r');
    try {
      const { size } = fstatSync(fd);
      const bytes = Buffer.alloc(Math.min(size, KEPT_CHARACTERS));
      readSync(fd, bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString('utf8');
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

let ladders = 0;

/** Starts it; whether it comes up is for `live` and `exit` to say. */
export function startLadder(context: RowContext, options: ChildLadderOptions = {}): ChildLadder {
  const number = ladders++;
  const dir = options.dir ?? join(context.dir, `run-${number}`);
  const planFile = join(context.dir, `plan-${number}.yaml`);
  // JSON is YAML.
  const plan = options.exactPlan === true ? options.plan : { ...CHILD_PLAN, seed: context.seed, ...options.plan };
  writeFileSync(planFile, JSON.stringify(plan));
  const [program = process.execPath, ...args] = [
    ...(options.through ?? []),
    ...cliCommand(),
    ...['ladder', '--plan', planFile, '--out', dir, ...(options.args ?? [])],
  ];
  const child: ChildProcess = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    // The user's own Redis would win over the one that a row starts.
    env: { ...process.env, ENVLADDER_REDIS_URL: '', ...options.env },
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] = (texts[name] + text).slice(-KEPT_CHARACTERS);
    });
  }
  let ended: LadderExit | null = null;
  const exit = new Promise<LadderExit>((resolve) => {
    const settle = (code: number | null, signal: NodeJS.Signals | null): void => {
      ended ??= { code, signal };
      resolve(ended);
    };
    child.once('exit', settle);
    child.once('error', (error) => {
      texts.stderr += error.message;
      settle(null, null);
    });
  });
  const ladder: ChildLadder = {
    pid: child.pid ?? Number.NaN,
    dir,
    exit,
    get ended() {
      return ended;
    },
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    events() {
      if (!existsSync(join(dir, 'events.sqlite'))) return [];
      try {
        return readEvents(dir, ended === null).rows;
      } catch {
        // Just being made, or locked for a moment.
        return [];
      }
    },
    children: () => [
      ...new Set(
        ladder
          .events()
          .filter(({ type }) => /-(started|restarted|replaced)$/.test(type))
          .map(({ detail }) => Number((JSON.parse(detail ?? '{}') as { pid?: number }).pid))
          .filter((pid) => Number.isInteger(pid)),
      ),
    ],
    record() {
      try {
        return JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as RunRecord;
      } catch {
        return null;
      }
    },
    metricsLines() {
      try {
        return readFileSync(join(dir, 'metrics.ndjson'), 'utf8').split('\n').length - 1;
      } catch {
        return 0;
      }
    },
    lastMetricsSeconds() {
      const text = tailOf(join(dir, 'metrics.ndjson'));
      const line = text.slice(0, text.lastIndexOf('\n')).split('\n').at(-1);
      try {
        return Number((JSON.parse(line ?? '') as { t_s: number }).t_s);
      } catch {
        return null;
      }
    },
    live: async () => {
      await until(() => ended !== null || ladder.events().some(({ type }) => type === 'tier-live'), START_MS * context.patience);
      return ended === null;
    },
    kill(signal) {
      if (ended === null) child.kill(signal);
    },
  };
  started.add(ladder);
  void exit.then(() => started.delete(ladder));
  return ladder;
}

const started = new Set<ChildLadder>();

/** SIGKILL for every ladder that still runs, and for what it told of: at a row's end, whatever became of the row. */
export async function endLadders(): Promise<void> {
  for (const ladder of [...started]) {
    ladder.kill('SIGKILL');
    await ladder.exit;
  }
}

/** Processes of `pids` that still run, given their start ticks at the time they were noted. */
export function stillRunning(pids: ReadonlyMap<number, number>): number[] {
  return [...pids].filter(([pid, ticks]) => isRunning(pid) && statOf(pid)?.startTicks === ticks).map(([pid]) => pid);
}

/** Pids with their start ticks, so that a recycled pid is not taken for one of them. */
export function identify(pids: readonly number[]): Map<number, number> {
  return new Map(pids.flatMap((pid) => [[pid, statOf(pid)?.startTicks ?? 0] as const]));
}
