// What stands beside the climb for as long as a run lasts: the health keeper, the two ways in for commands (control socket, Redis stream),
// the mirror of the state. Opened with the run folder, shown the crew when it stands, closed before the record is. Decides no kill, save that
// in `health.mode: account` it supplies the detector that does, for comparison.

import { type ControlSocket, openControlSocket } from '../bus/control-socket.js';
import { obeyOnce } from '../bus/obey-once.js';
import { type CommandReader, startCommandReader } from '../bus/state/command-reader.js';
import { BEAT_ENVIRONMENT, redisUrl } from '../bus/state/redis-address.js';
import { createStateMirror, type StateMirror } from '../bus/state/state-mirror.js';
import type { StateStore } from '../bus/state/state-store.js';
import type { CtlAnswer, CtlCommand } from '../contract/ctl.js';
import type { EnvRange } from '../contract/env-state.js';
import { EnvladderError } from '../contract/errors.js';
import type { HealthSummary } from '../contract/health-report.js';
import type { Plan } from '../contract/plan.js';
import type { Death } from '../contract/run-record.js';
import { createAccountDetector } from '../supervisor/account-detector.js';
import type { Crew, CrewEvent } from '../supervisor/crew.js';
import type { CrewDetector } from '../supervisor/post.js';
import { createHealthKeeper, type HealthKeeper } from './health/health-keeper.js';
import type { LadderStatus } from './ladder-status.js';
import { envBeats, runInfo, scoresOf, workerBeat } from './state-look.js';

const TICK_MS = 1000;
/** Per-env parts of the mirror: a write of 7,000 envs every second would be work without a reader. */
const ENVS_EVERY_TICKS = 10;

export interface RunWatchOptions {
  readonly runId: string;
  readonly plan: Plan;
  /** How the plan is called in messages. */
  readonly label: string;
  /** The run folder; its lock is held. */
  readonly dir: string;
  readonly ranges: readonly EnvRange[];
  readonly startedAt: string;
  readonly beganMs: number;
  readonly nowMs: () => number;
  readonly status: () => LadderStatus;
  /** Into the journal and on to whoever listens, `hear` included. */
  readonly emit: (event: CrewEvent) => void;
  readonly onNotice: (message: string) => void;
}

export interface RunWatch {
  /** To raise the crew with, in `health.mode: account`. */
  readonly detector: CrewDetector | undefined;
  /** Commands that Redis was sent and has not answered: what must not grow when it is in trouble. */
  unanswered(): number;
  hear(event: CrewEvent): void;
  death(death: Death): void;
  /** A tier's measured time begins. */
  beginMeasure(): void;
  /** The crew stands: from here on it is looked at once a second and commands reach it. */
  attend(crew: Crew): void;
  /** The crew is about to be stopped: from here on what ends does so in order. */
  beginStop(): void;
  /** The crew has stopped: last reports are written. Never rejects. */
  finish(): Promise<HealthSummary | null>;
  /** Hangs up and lets go of everything; also when no crew ever stood. */
  close(): Promise<void>;
}

const REFUSED: Omit<CtlAnswer, 'id'> = { ok: false, message: 'the run is still starting: ask again when its first tier grows' };

/** Throws `bad-plan` for an unusable Redis URL. A control socket that cannot be had is a warning: the run goes on without it. */
export async function openRunWatch(options: RunWatchOptions): Promise<RunWatch> {
  const { plan, emit, runId } = options;
  const facts = { runId, plan: options.label, startedAt: options.startedAt };
  let crew: Crew | null = null;
  let keeper: HealthKeeper | null = null;
  let timer: NodeJS.Timeout | undefined;
  let ticks = 0;
  let scoresVersion = 0;

  async function answer(command: CtlCommand): Promise<CtlAnswer> {
    if (crew === null) return { id: command.id, ...REFUSED };
    const said = await crew.obey(command);
    if (command.command !== 'status') return said;
    return { ...said, detail: { run: runInfo(facts, options.status(), crew.health().suspended), ...said.detail } };
  }
  const obey = obeyOnce(answer);
  const store = await openStore(options);
  const mirror: StateMirror | null = store === null ? null : createStateMirror({ store, onEvent: emit });
  const reader: CommandReader | null = store === null ? null : startCommandReader({ store, obey });
  const socket = await openSocket(options, obey);

  function tick(): void {
    if (crew === null || keeper === null) return;
    keeper.tick();
    if (mirror !== null) {
      const health = crew.health();
      const whole = ticks % ENVS_EVERY_TICKS === 0;
      mirror.offer({
        info: runInfo(facts, options.status(), health.suspended),
        workers: health.workers.map(workerBeat),
        ...(whole ? { envs: envBeats(crew), scores: scoresOf(++scoresVersion, options.ranges, keeper.scores()) } : {}),
        ...(whole && health.envStats !== null ? { rewards: health.envStats } : {}),
      });
    }
    ticks++;
  }

  const refused = (): Record<string, number> => ({ ...socket?.refused(), ...reader?.refused() });
  const { mode, account } = plan.health;
  return {
    detector:
      store === null || mode !== 'account'
        ? undefined
        : createAccountDetector({ store, emit, scanEveryMs: account.scanSeconds * 1000, limitMs: account.limitSeconds * 1000 }),
    unanswered: () => store?.pending() ?? 0,
    hear: (event) => keeper?.hear(event),
    death: (death) => keeper?.death(death),
    beginMeasure: () => keeper?.beginMeasure(),
    attend(raised) {
      crew = raised;
      keeper = createHealthKeeper({
        runId,
        dir: options.dir,
        envs: plan.tiers.at(-1)?.envs ?? 0,
        ranges: options.ranges,
        crew: raised,
        softLimitBytes: plan.health.softLimitBytes,
        plannedSeconds: plan.tiers.reduce((sum, tier) => sum + tier.seconds, 0),
        beganMs: options.beganMs,
        nowMs: options.nowMs,
        onNotice: options.onNotice,
        refused,
        memoryMaxOf: raised.memoryMaxBytes,
      });
      timer = setInterval(tick, TICK_MS);
    },
    beginStop: () => keeper?.beginStop(),
    async finish() {
      clearInterval(timer);
      return (await keeper?.finish()) ?? null;
    },
    async close() {
      clearInterval(timer);
      await socket?.close();
      await reader?.close();
      await mirror?.close();
    },
  };
}

async function openStore({ plan, runId }: RunWatchOptions): Promise<StateStore | null> {
  const url = redisUrl(plan.redis?.url, process.env);
  if (url === undefined) return null;
  const prefix = plan.redis?.prefix ?? 'envladder';
  // Loaded only by runs that have a Redis: the client costs 40 to 70 ms and 20 MB (measured with the import alone).
  const { openRedisStateStore } = await import('../bus/state/redis-state-store.js');
  const store = openRedisStateStore({ url, prefix, runId });
  if (plan.health.mode === 'account') {
    // Workers beat by themselves there, and inherit where.
    process.env[BEAT_ENVIRONMENT.url] = url;
    process.env[BEAT_ENVIRONMENT.prefix] = prefix;
  }
  return store;
}

async function openSocket(
  { dir, emit }: RunWatchOptions,
  obey: (command: CtlCommand) => Promise<CtlAnswer>,
): Promise<ControlSocket | null> {
  try {
    return await openControlSocket({
      dir,
      obey,
      onCount: (what) => {
        if (what === 'rebound') emit({ type: 'alarm-cleared', message: 'the control socket had been removed; it is there again' });
        if (what === 'rebind-failed')
          emit({ type: 'alarm', message: 'the control socket was removed and cannot be made again; it is tried again' });
      },
    });
  } catch (error) {
    if (!(error instanceof EnvladderError)) throw error;
    emit({ type: 'warning', message: `no control socket: ${error.message}` });
    return null;
  }
}
