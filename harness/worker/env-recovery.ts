// Envs that failed, on their way back: parked, closed, built anew, stepped again, without touching their neighbours and without stopping
// the step loop. Failures come from the step loop, orders from the supervisor; the work is done in turns of the event loop (`tend`), at
// most `parallel` envs at a time. Bounded by the number of envs: one job each.
import type { EnvladderError } from '../contract/errors.js';
import type { EnvFailure } from '../contract/messages.js';
import { envError } from '../envs/slot-failure.js';
import { closeSlot, constructSlot } from '../envs/slot-life.js';
import type { SlotTable } from '../envs/slot-table.js';
import type { SlotWords } from '../memory/interface.js';
import { type EnvBudget, judgeFailure, withinWindow } from './env-budget.js';
import { operationOf } from './error-entry.js';
import { type MendBlock, ownerOf, PHASE, SEAT } from './mend-block.js';

/** Synchronous closes and constructors hold the thread this long before the step loop gets its turn. */
const SLICE_MS = 5;

export interface EnvRecovery {
  /** Something waits for turns of the event loop: a close or constructor at work, or a job that is due. */
  readonly working: boolean;
  /**
   * Takes a block's slots up: who is out, who cools down since an earlier life, who is to be built. `words` are the slots' as the lives
   * before left them: a quarantine that nobody told of stands there, and a release that nobody carried out.
   */
  enroll(block: MendBlock, out: (envId: number) => boolean, words?: Pick<SlotWords, 'retired' | 'owed'>): void;
  /** An env failed; its slot is parked, or was never active. */
  failed(block: MendBlock, index: number, error: EnvladderError): void;
  /** Does what is due. `nowMs` as of `performance.now()`. */
  tend(nowMs: number): void;
  /** Takes an env out, at once or when its slot is leased. */
  quarantine(envId: number): 'quarantined' | 'unknown-env';
  /** Builds an env that is out or waiting anew, its failures forgotten; `not-out`: it is in the round, or being built for the first time. */
  release(envId: number): 'released' | 'not-out' | 'unknown-env';
  /** Nothing further is built. */
  stop(): void;
}

export interface EnvRecoveryOptions {
  readonly budget: EnvBudget;
  /** Closes and constructors at work at once. */
  readonly parallel: number;
  /** Uniform in [0, 1), from a seeded stream. */
  readonly chance: () => number;
  /** Added to `performance.now()` it is CLOCK_MONOTONIC in milliseconds, the clock of `failedMs`. */
  readonly clockOffsetMs: number;
  /** Failures of earlier lives. */
  readonly failedMs: Iterable<readonly [number, readonly number[]]>;
  readonly onFailure: (error: EnvladderError, envId: number, entry: string, fate: EnvFailure['fate']) => void;
  /** A `close` on the way failed: noted, nothing more. */
  readonly onCloseError: (error: EnvladderError, envId: number, entry: string) => void;
  readonly onRebuilt: (envId: number) => void;
}

interface Job {
  readonly block: MendBlock;
  readonly index: number;
  readonly envId: number;
  closed: boolean;
  /** The constructor may start at this time of `performance.now()`; infinite: the env is only closed. */
  dueMs: number;
  /** Taken over by an order: what it builds is closed again. */
  void: boolean;
}

export function createEnvRecovery(options: EnvRecoveryOptions): EnvRecovery {
  const { budget, parallel, chance, clockOffsetMs } = options;
  const failures = new Map<number, number[]>([...options.failedMs].map(([envId, times]) => [envId, [...times]]));
  const blocks: MendBlock[] = [];
  const jobs = new Map<number, Job>();
  /** Envs whose close or constructor is at work, also for a job that is void. */
  const busy = new Set<number>();
  let nextLookMs = 0;
  let stopped = false;

  function assign(block: MendBlock, index: number, closed: boolean, dueMs: number): void {
    const envId = block.writer.spec.firstEnvId + index;
    const before = jobs.get(envId);
    if (before !== undefined) before.void = true;
    jobs.set(envId, { block, index, envId, closed, dueMs, void: false });
    nextLookMs = 0;
  }

  function retire(block: MendBlock, index: number): void {
    block.phase[index] = PHASE.out;
    block.seat[index] = SEAT.retired;
    block.writer.quarantine(index);
    assign(block, index, false, Number.POSITIVE_INFINITY);
  }

  function finish(job: Job): void {
    const { block, index, envId } = job;
    const { writer, seat } = block;
    const table = block.table as SlotTable;
    jobs.delete(envId);
    table.fresh[index] = 1;
    table.steps[index] = 0;
    if (seat[index] === SEAT.unbuilt) writer.activate(index);
    else if (seat[index] === SEAT.retired) writer.release(index);
    else writer.unpark(index);
    seat[index] = SEAT.active;
    block.phase[index] = PHASE.live;
    options.onRebuilt(envId);
  }

  async function work(job: Job): Promise<void> {
    const { block, index, envId } = job;
    const table = block.table as SlotTable;
    const noteClose = (error: EnvladderError): void => options.onCloseError(error, envId, block.entry);
    busy.add(envId);
    try {
      if (!job.closed) {
        await closeSlot(table, index, noteClose);
        job.closed = true;
        if (job.dueMs === Number.POSITIVE_INFINITY && !job.void) jobs.delete(envId);
        return;
      }
      const building = constructSlot(table, index);
      if (building !== undefined) await building;
      if (job.void || stopped) await closeSlot(table, index, noteClose);
      else finish(job);
    } catch (cause) {
      if (!job.void) {
        jobs.delete(envId);
        recovery.failed(block, index, envError(table, index, 'construct', cause));
      }
    } finally {
      busy.delete(envId);
      nextLookMs = 0;
    }
  }

  const recovery: EnvRecovery = {
    get working() {
      return busy.size > 0 || (jobs.size > 0 && nextLookMs === 0);
    },
    enroll(block, out, words) {
      blocks.push(block);
      const nowMs = performance.now();
      for (let index = 0; index < block.writer.spec.slots; index++) {
        const envId = block.writer.spec.firstEnvId + index;
        const left = words?.retired[index] === 1;
        if (left && words.owed[index] === 1 && !out(envId)) {
          block.phase[index] = PHASE.released;
          block.seat[index] = SEAT.retired;
          assign(block, index, true, 0);
          continue;
        }
        if (left || out(envId)) {
          block.writer.quarantine(index);
          block.phase[index] = PHASE.out;
          block.seat[index] = SEAT.retired;
          continue;
        }
        const times = withinWindow(failures.get(envId) ?? [], budget, nowMs + clockOffsetMs);
        // An earlier life had sent it to cool down: a new process does not shorten that.
        const coolUntilMs = times.length > budget.restarts ? (times.at(-1) as number) + budget.coolDownMs - clockOffsetMs : 0;
        if (coolUntilMs <= nowMs) continue;
        block.phase[index] = PHASE.mending;
        assign(block, index, true, coolUntilMs);
      }
    },
    failed(block, index, error) {
      if (block.phase[index] === PHASE.out || stopped) return;
      const envId = block.writer.spec.firstEnvId + index;
      const nowMs = performance.now();
      const times = withinWindow(failures.get(envId) ?? [], budget, nowMs + clockOffsetMs);
      times.push(nowMs + clockOffsetMs);
      failures.set(envId, times);
      const verdict = block.rebuild
        ? judgeFailure(times.length, operationOf(error) === 'construct', budget, chance())
        : ({ fate: 'quarantine' } as const);
      options.onFailure(error, envId, block.entry, verdict.fate);
      if (verdict.fate === 'quarantine') {
        retire(block, index);
        return;
      }
      block.phase[index] = PHASE.mending;
      assign(block, index, false, nowMs + verdict.waitMs);
    },
    tend(nowMs) {
      if (stopped || nowMs < nextLookMs || jobs.size === 0) return;
      nextLookMs = Number.POSITIVE_INFINITY;
      let clockMs = nowMs;
      for (const job of jobs.values()) {
        if (busy.has(job.envId)) continue;
        // An env taken out while its first constructor was at work is built anew only when that has ended.
        if (job.closed && (job.dueMs > nowMs || (job.block.building && job.block.phase[job.index] === PHASE.released))) {
          nextLookMs = Math.min(nextLookMs, Math.max(job.dueMs, nowMs + SLICE_MS));
          continue;
        }
        if (busy.size >= parallel || clockMs - nowMs > SLICE_MS) {
          nextLookMs = 0;
          return;
        }
        void work(job);
        clockMs = performance.now();
      }
    },
    quarantine(envId) {
      const owner = ownerOf(blocks, envId);
      if (owner === undefined) return 'unknown-env';
      if (owner.block.phase[owner.index] !== PHASE.out) retire(owner.block, owner.index);
      return 'quarantined';
    },
    release(envId) {
      const owner = ownerOf(blocks, envId);
      if (owner === undefined) return 'unknown-env';
      const { block, index } = owner;
      failures.delete(envId);
      if (block.phase[index] === PHASE.out) {
        block.phase[index] = PHASE.released;
        assign(block, index, false, 0);
      } else if (block.phase[index] === PHASE.mending) {
        const job = jobs.get(envId);
        if (job !== undefined) job.dueMs = 0;
        nextLookMs = 0;
      } else if (block.phase[index] !== PHASE.released) return 'not-out';
      return 'released';
    },
    stop() {
      stopped = true;
      for (const job of jobs.values()) job.void = true;
    },
  };
  return recovery;
}
