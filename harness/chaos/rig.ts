// A rig: a small real crew (processes, shared memory, a run folder for its events) made to be broken. Raised anew for every row, so that
// one row's damage is never another's cause. Remembers every event, death and rate sample with its time; judged by invariants/.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Plan, type PlanInput, planSchema, resolvePlan } from '../contract/plan.js';
import type { Death } from '../contract/run-record.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import { createRegistry, resolveKind } from '../envs/registry.js';
import type { Control } from '../memory/control.js';
import type { Memory, Segment } from '../memory/interface.js';
import { createNativeMemory } from '../memory/native-memory.js';
import type { RunWriter } from '../store/run-writer.js';
import { openRunWriter } from '../store/threaded-run-writer.js';
import { monotonicMs } from '../supervisor/clock.js';
import type { Crew, CrewEnd, CrewEvent } from '../supervisor/crew.js';
import { entryMessage } from '../supervisor/entry-message.js';
import { type CrewSeams, raiseCrew } from '../supervisor/raise-crew.js';
import { entryUrl } from '../supervisor/spawn.js';
import type { RowContext } from './chaos-row.js';
import { CHECK_WARNING, PACE_VARIABLE } from './check-words.js';
import { createFrameSampler, type FrameSampler } from './frame-sampler.js';
import { type Leftovers, lookAround } from './leftovers.js';
import { watchOverlaps } from './overlaps.js';
import { until } from './until.js';

/** Least time between two batches of a rig's learner: about a hundred steps a second and env, far below what a core can do. */
const PACE_MS = 10;
/** Longest wait for a rig to be in its steady state, before patience. */
const STEADY_MS = 60_000;
/** Frames of every env that make a steady state. */
const STEADY_FRAMES = 20;
/** What a rig's stop leaves its children. */
export const DRAIN_MS = 4000;

export type Timed<Item> = Item & { readonly ms: number };

export interface Rig {
  readonly crew: Crew;
  readonly plan: Plan;
  readonly runId: string;
  readonly context: RowContext;
  /** Folder with events.sqlite (and checkpoints, with a learner that trains). */
  readonly dir: string;
  readonly writer: RunWriter;
  readonly beganMs: number;
  readonly events: readonly Timed<CrewEvent>[];
  readonly deaths: readonly Timed<Death>[];
  readonly stats: readonly LearnerSnapshot[];
  readonly memory: Memory;
  /** By worker seat: the segment in use now, and those it replaced. */
  readonly segments: ReadonlyMap<number, Segment>;
  readonly allSegments: readonly Segment[];
  control(): Control;
  readonly sampler: FrameSampler;
  readonly before: Leftovers;
  /** Seats that a fault of the row has chosen. */
  readonly struck: Set<number>;
  /** Sentences: two processes of one seat on the same memory. */
  overlaps(): readonly string[];
  /** Pids of every child it ever had, by role ("learner", "worker 3"), newest last. */
  pids(role: string): readonly number[];
  pid(role: string): number;
  /** Env ids of a seat. */
  envsOf(worker: number): number[];
  /** For what stands beside the crew and has events of its own. */
  hear(event: CrewEvent): void;
  eventsSince(ms: number, type?: CrewEvent['type']): Timed<CrewEvent>[];
  /** Waits for `condition`, a watchdog of `ms` times the row's patience; false when it ran out. */
  wait(ms: number, condition: () => boolean | Promise<boolean>): Promise<boolean>;
  stop(): Promise<CrewEnd>;
}

export interface RigOptions {
  readonly plan?: Partial<PlanInput>;
  /** Module with env kinds, absolute. */
  readonly module?: string;
  readonly seams?: CrewSeams;
  /** Wraps the memory of the supervisor: seeded bugs. */
  readonly wrapMemory?: (memory: Memory) => Memory;
  readonly resume?: string;
  /** 0: as fast as it goes. */
  readonly paceMs?: number;
  /** What `reading` frames means for "steady"; 0: do not wait. */
  readonly steadyFrames?: number;
}

/** 4 workers with 20 probes each, episodes of 50 steps, and health settings that make a row a matter of seconds. */
export const RIG_PLAN: Partial<PlanInput> = {
  tiers: [80],
  mix: { probe: { share: 1, config: { terminateAt: 50 } } },
  workers: 4,
  learner: 'random',
  stepDeadlineSeconds: 2,
  startDeadlineSeconds: 60,
  // All envs in one batch: the pace is then one step of every env, whoever else is missing.
  ppo: { batch: 65_536 },
  health: { frozenSeconds: 2, blockedSeconds: 2, graceSeconds: 0.2, backoff: { baseSeconds: 0.05, maxSeconds: 1 } },
};

/** Kinds that break when told to (trigger-kind.ts). */
export const TRIGGER_MODULE = fileURLToPath(entryUrl('../chaos/trigger-kind'));

let rigs = 0;

/** Raises a rig and waits for its steady state: every env has stepped. Rejects when it cannot; then nothing of it is left. */
export async function raiseRig(context: RowContext, options: RigOptions = {}): Promise<Rig> {
  const plan = resolvePlan(
    planSchema.parse({
      ...RIG_PLAN,
      seed: context.seed,
      ...options.plan,
      health: { ...RIG_PLAN.health, ...options.plan?.health },
      ppo: { ...RIG_PLAN.ppo, ...options.plan?.ppo },
    }),
    2,
  );
  const registry = await createRegistry(options.module === undefined ? [] : [options.module]);
  const entries = plan.mix.map((entry) => entryMessage(plan, entry, resolveKind(registry, entry.kind, entry.config)));
  const runId = `chaos-${process.pid}-${rigs++}`;
  const dir = join(context.dir, runId);
  mkdirSync(dir, { recursive: true });
  const before = lookAround();
  const events: Timed<CrewEvent>[] = [];
  const deaths: Timed<Death>[] = [];
  const stats: LearnerSnapshot[] = [];
  const pids = new Map<string, number[]>();
  const beganMs = monotonicMs();
  const writer = openRunWriter(dir, { onNews: (news) => hear(news) });
  const native = createNativeMemory();
  const segments = new Map<number, Segment>();
  const allSegments: Segment[] = [];
  let control: Control | undefined;
  const watched: Memory = {
    ...native,
    createSegment(spec) {
      const segment = native.createSegment(spec);
      segments.set(spec.worker, segment);
      allSegments.push(segment);
      return segment;
    },
    createControl(lines) {
      control = native.createControl(lines);
      return control;
    },
  };
  const memory = (context.bug?.wrapMemory ?? options.wrapMemory)?.(watched) ?? watched;

  const overlaps = watchOverlaps(segments, (worker) => pids.get(`worker ${worker}`) ?? []);

  const hear = (event: CrewEvent): void => {
    const ms = monotonicMs();
    events.push({ ...event, ms });
    writer.event({ ...event, at: new Date().toISOString(), runMs: ms - beganMs });
    const pid = Number(event.detail?.pid);
    if (!Number.isInteger(pid) || !/-(started|restarted|replaced)$/.test(event.type)) return;
    const role = event.worker === undefined ? 'learner' : `worker ${event.worker}`;
    pids.set(role, [...(pids.get(role) ?? []), pid]);
    if (event.worker !== undefined) overlaps.look(event.worker);
  };

  const pacing = process.env[PACE_VARIABLE];
  process.env[PACE_VARIABLE] = String(options.paceMs ?? PACE_MS);
  let crew: Crew;
  try {
    crew = await raiseCrew(
      {
        runId,
        plan,
        entries,
        module: options.module ?? null,
        checkpointDir: plan.learner === 'ppo' ? join(dir, 'checkpoints') : null,
        resume: options.resume ?? null,
        onEvent: hear,
        onDeath: (death) => deaths.push({ ...death, ms: monotonicMs() }),
        onStats: (snapshot) => stats.push(snapshot),
      },
      { learnerEntry: entryUrl('../chaos/checking-learner'), ...options.seams, ...context.bug?.seams, memory },
    );
  } catch (error) {
    overlaps.end();
    await writer.close();
    throw error;
  } finally {
    if (pacing === undefined) delete process.env[PACE_VARIABLE];
    else process.env[PACE_VARIABLE] = pacing;
  }
  const sampler = createFrameSampler(segments, plan.tiers.at(-1)?.envs ?? 0);
  let end: Promise<CrewEnd> | null = null;
  const rig: Rig = {
    crew,
    plan,
    runId,
    context,
    dir,
    writer,
    beganMs,
    events,
    deaths,
    stats,
    memory,
    segments,
    allSegments,
    control: () => control as Control,
    sampler,
    before,
    struck: new Set(),
    overlaps: () => overlaps.found,
    pids: (role) => pids.get(role) ?? [],
    pid: (role) => pids.get(role)?.at(-1) ?? Number.NaN,
    envsOf: (worker) =>
      segments.get(worker)?.spec.blocks.flatMap(({ firstEnvId, slots }) => Array.from({ length: slots }, (_, i) => firstEnvId + i)) ?? [],
    hear,
    eventsSince: (ms, type) => events.filter((event) => event.ms >= ms && (type === undefined || event.type === type)),
    wait: (ms, condition) => until(condition, ms * context.patience),
    stop() {
      sampler.end();
      overlaps.end();
      end ??= crew.stop(DRAIN_MS);
      return end;
    },
  };
  try {
    await crew.growTo(0);
    const steady = options.steadyFrames ?? STEADY_FRAMES;
    const envs = plan.tiers[0]?.envs ?? 0;
    if (
      !(await rig.wait(STEADY_MS, () =>
        sampler
          .look()
          .seq.subarray(0, envs)
          .every((seq) => seq >= steady),
      ))
    ) {
      throw new Error(`the rig is not in its steady state after ${STEADY_MS / 1000} s: ${events.at(-1)?.message ?? 'no event'}`);
    }
    return rig;
  } catch (error) {
    await rig.stop();
    await writer.close();
    throw error;
  }
}

/** Violations of the frame check that were told in words. */
export function toldViolations(rig: Rig): string[] {
  return rig.events.filter(({ type, message }) => type === 'warning' && message.startsWith(CHECK_WARNING)).map(({ message }) => message);
}
