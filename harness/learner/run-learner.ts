// One learner's life after its start message: take ready frames, answer them, train when an update is due, until told to stop. Everything
// from outside (memory, channel, backend, clock) is an argument, so that tests run it in their own process on the in-memory twin.
import type { Channel } from '../bus/channel.js';
import { ENV_STATS_SECONDS, type EntryMessage, type FromLearner, type LearnerStart, type ToLearner } from '../contract/messages.js';
import { spaceSignature } from '../contract/spaces.js';
import type { Memory } from '../memory/interface.js';
import { adoptBlocks } from './adopt.js';
import type { Backend, BackendName } from './backends.js';
import { createBalance } from './balance.js';
import { createCheckpointer } from './checkpointer.js';
import { type Command, createCommands } from './commands.js';
import { createEnvStatsTable } from './env-stats.js';
import { createEpisodeStats } from './episode-stats.js';
import { type GroupContext, makeGroup } from './make-group.js';
import { openSegments } from './open-segments.js';
import { createPhaseClock } from './phase-clock.js';
import type { Policy } from './policy.js';
import { openResume } from './resume.js';
import { snapshotOf, timesOf } from './snapshot-of.js';
import type { SpaceGroup } from './space-group.js';
import { injectFault, type TestFault } from './test-fault.js';
import { createUnusableReport } from './unusable-report.js';
import { startVitalSigns } from './vital-signs.js';

/** Longest sleep for frames: bounds how long a message waits. */
const WAIT_MS = 20;
/** Longest time between two turns of the event loop while there is work. */
const YIELD_MS = 5;
const STATS_MS = 1000;
/** Part of the time to stop that the last checkpoint may use; the rest is for the last words. */
const CHECKPOINT_SHARE = 0.8;
/** Time for the last checkpoint when nobody set a deadline: who sends SIGTERM seldom waits longer before SIGKILL. */
const TERMINATED_MS = 5000;

export interface LearnerPorts {
  readonly memory: Memory;
  readonly channel: Channel<FromLearner, ToLearner>;
  readonly openBackend: (wanted: BackendName | 'auto') => Promise<Backend>;
  /** CLOCK_MONOTONIC in milliseconds. */
  readonly nowMs: () => number;
  readonly gatherThreads: number;
  /** Tells whether this process was asked to end by somebody else than its supervisor. */
  readonly terminated?: () => boolean;
  readonly testFault?: TestFault | null;
}

/** Runs one learner from its start message to its stop. Rejects with what makes it useless: no backend, wrong segment, bad checkpoint. */
export async function runLearner(start: LearnerStart, ports: LearnerPorts): Promise<void> {
  const { memory, channel, nowMs, terminated = () => false } = ports;
  /** By when to be gone; null until the supervisor says stop. */
  const stop: { byMs: number | null } = { byMs: null };
  const ending = (): boolean => stop.byMs !== null || terminated();
  const commands: Command[] = [];
  const { base } = start;
  const balance = createBalance(base);
  const clock = createPhaseClock(nowMs, base?.phaseSeconds);
  const stats = start.entries.map((entry) => createEpisodeStats(base?.kinds[entry.name]));
  const envStats = createEnvStatsTable(base?.envStats);
  const groups: SpaceGroup[] = [];
  const policies: Policy[] = [];
  const entryNames = start.entries.map((entry) => entry.name);
  let baseTimes = timesOf(base);
  const snapshot = () => snapshotOf({ groups, policies, balance, clock, entryNames, stats, nowMs, base, baseTimes });
  const beginLatency = (): void => {
    baseTimes = null;
    for (const group of groups) group.reader.resetLatency();
  };
  /** Until the live blocks are taken in there is nothing to tell that adds up. */
  let adopted = false;
  const askedEarly: number[] = [];
  const answer = (id: number): void => channel.send({ type: 'snapshot', id, snapshot: snapshot() });
  const warn = (message: string): void => channel.send({ type: 'warning', message });
  // Heard from the first moment: a stop may come while the backend is still loading.
  channel.onMessage((message) => {
    switch (message.type) {
      case 'stop':
        stop.byMs ??= nowMs() + message.deadlineMs;
        return;
      case 'snapshot':
        if (adopted) answer(message.id);
        else askedEarly.push(message.id);
        return;
      case 'measure':
        beginLatency();
        return;
      case 'start':
        return;
      default:
        commands.push(message);
    }
  });

  /** Our line on the control page and in the error tables: behind the workers'. */
  const line = start.workers;
  const control = memory.attachControl(line + 1, start.controlFd);
  memory.bindControl(control);
  const errors = memory.attachErrors(line + 1, start.errorsFd);
  const note = (error: unknown): void => {
    const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
    errors.add(line, { envId: -1, entry: '', operation: 'idle', message: `${name}: ${message}`, stack });
  };
  const vital = startVitalSigns(control, line, start.life, nowMs);
  const segments = openSegments(memory, start.segments);
  let ticker: NodeJS.Timeout | undefined;
  try {
    const backend = start.mode === 'ppo' ? await ports.openBackend(start.backend) : null;
    vital.turn();
    let yieldedMs = nowMs();
    const pause = async (): Promise<void> => {
      if (nowMs() - yieldedMs < YIELD_MS) return;
      await new Promise((resolve) => setImmediate(resolve));
      yieldedMs = nowMs();
      vital.turn();
    };
    const resume = openResume(start.mode === 'ppo' ? start.resume : null, warn);
    const context: GroupContext = {
      start,
      memory,
      control,
      balance,
      clock,
      stats,
      envStats,
      backend,
      gatherThreads: ports.gatherThreads,
      pause,
      onPolicy: (policy) => {
        policies.push(policy);
        resume.restore(policy);
      },
      onBadUpdate: (message, cause) => {
        warn(message);
        note(cause);
      },
      onUnusable: createUnusableReport(nowMs, warn),
      faults: injectFault(ports.testFault ?? null, start.life),
    };
    const groupOf = new Map<string, SpaceGroup>();
    for (const entry of start.entries) {
      const signature = spaceSignature(entry.spaces);
      if (groupOf.has(signature)) continue;
      const group = makeGroup(context, entry);
      groupOf.set(signature, group);
      groups.push(group);
    }
    resume.check();
    const checkpointer = createCheckpointer({
      folder: start.mode === 'ppo' ? start.checkpointDir : null,
      runId: start.runId,
      policies,
      intervalSeconds: start.ppo.checkpointSeconds,
      nowMs,
      send: channel.send,
    });
    const find = (worker: number, block: number) => {
      const { segment, entry } = segments.find(worker, block);
      return { segment, entry, group: groupOf.get(spaceSignature((start.entries[entry] as EntryMessage).spaces)) as SpaceGroup };
    };
    adoptBlocks(start, groups, find, balance);
    adopted = true;
    const { send } = channel;
    const { obey, sawTurn } = createCommands({ groups, segments, find, checkpointer, beginLatency, nowMs, send });
    /** Longest sleep that lets no held action wait. */
    const untilDue = (): number => {
      const due = groups.map(({ reader }) => reader.nextDueMs()).filter((dueMs) => dueMs > 0);
      return due.length === 0 ? WAIT_MS : Math.min(WAIT_MS, Math.max(0, Math.min(...due) - nowMs()));
    };
    const report = () => vital.report(groups.reduce((sum, group) => sum + group.reader.stats.collected, 0));
    let statsLeft = ENV_STATS_SECONDS;
    const tell = (): void => {
      vital.turn();
      channel.send({ type: 'stats', snapshot: snapshot(), report: report() });
      if (--statsLeft > 0) return;
      statsLeft = ENV_STATS_SECONDS;
      channel.send({ type: 'env-stats', stats: envStats.stats() });
    };

    channel.send({
      type: 'ready',
      pid: process.pid,
      backend: backend?.name ?? 'none',
      backendVersion: backend?.version ?? '',
      resumedFrom: resume.path,
    });
    for (const id of askedEarly) answer(id);
    ticker = setInterval(tell, STATS_MS);
    while (!ending()) {
      await pause();
      for (let command = commands.shift(); command !== undefined; command = commands.shift()) obey(command);
      checkpointer.writeIfDue();
      let worked = false;
      for (const group of groups) {
        if (group.turn() > 0) worked = true;
        sawTurn(group);
        if (group.agent.updateDue) {
          await group.agent.update(ending);
          worked = true;
        }
      }
      if (!worked) {
        clock.enter('wait');
        control.waitFrames(untilDue());
        yieldedMs = Number.NEGATIVE_INFINITY;
      }
    }
    let settled = false;
    const settle = (): void => {
      if (stop.byMs === null || settled) return;
      settled = true;
      for (const group of groups) group.finish();
    };
    settle();
    const leftMs = stop.byMs === null ? TERMINATED_MS : CHECKPOINT_SHARE * (stop.byMs - nowMs());
    await checkpointer.finish(stop.byMs === null ? 'terminated' : 'stop', leftMs);
    // It may have been told meanwhile. Ended by somebody else, it leaves its rows open: a successor counts on from here as after a death.
    settle();
    channel.send({ type: 'env-stats', stats: envStats.stats() });
    channel.send(settled ? { type: 'stopped', snapshot: snapshot() } : { type: 'stats', snapshot: snapshot(), report: report() });
  } catch (error) {
    note(error);
    throw error;
  } finally {
    clearInterval(ticker);
    vital.end();
    for (const group of groups) group.agent.dispose();
    segments.close();
    errors.close();
    control.close();
  }
}
