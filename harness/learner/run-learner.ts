// One learner's life after its start message: take ready frames, answer them, train when an update is due, until told to stop. Everything
// from outside (memory, channel, backend, clock) is an argument, so that tests run it in their own process on the in-memory twin.
import type { Channel } from '../bus/channel.js';
import type { EntryMessage, FromLearner, LearnerStart, ToLearner } from '../contract/messages.js';
import { spaceSignature } from '../contract/spaces.js';
import type { Memory, SegmentSpec } from '../memory/interface.js';
import type { Backend, BackendName } from './backends.js';
import { createBalance } from './balance.js';
import { createCheckpointer } from './checkpointer.js';
import { createEpisodeStats } from './episode-stats.js';
import { type GroupContext, makeGroup } from './make-group.js';
import { createPhaseClock } from './phase-clock.js';
import type { Policy } from './policy.js';
import { openResume } from './resume.js';
import { snapshotOf } from './snapshot-of.js';
import type { SpaceGroup } from './space-group.js';

/** Longest sleep for frames: bounds how long a message waits. */
const WAIT_MS = 20;
/** Longest time between two turns of the event loop while there is work. */
const YIELD_MS = 5;
const STATS_MS = 1000;

export interface LearnerPorts {
  readonly memory: Memory;
  readonly channel: Channel<FromLearner, ToLearner>;
  readonly openBackend: (wanted: BackendName | 'auto') => Promise<Backend>;
  /** CLOCK_MONOTONIC in milliseconds. */
  readonly nowMs: () => number;
  readonly gatherThreads: number;
}

type Command = Extract<ToLearner, { type: 'grow' | 'drop' | 'checkpoint' }>;

/** Runs one learner from its start message to its stop. Rejects with what makes it useless: no backend, wrong segment, bad checkpoint. */
export async function runLearner(start: LearnerStart, ports: LearnerPorts): Promise<void> {
  const { memory, channel, nowMs } = ports;
  let stopped = false;
  const commands: Command[] = [];
  const balance = createBalance();
  const clock = createPhaseClock(nowMs);
  const stats = start.entries.map(() => createEpisodeStats());
  const groups: SpaceGroup[] = [];
  const policies: Policy[] = [];
  const sources = { groups, policies, balance, clock, entryNames: start.entries.map((entry) => entry.name), stats, nowMs };
  const snapshot = () => snapshotOf(sources);
  // Heard from the first moment: a stop may come while the backend is still loading.
  channel.onMessage((message) => {
    switch (message.type) {
      case 'stop':
        stopped = true;
        return;
      case 'snapshot':
        channel.send({ type: 'snapshot', id: message.id, snapshot: snapshot() });
        return;
      case 'measure':
        for (const group of groups) group.reader.resetLatency();
        return;
      case 'grow':
      case 'drop':
      case 'checkpoint':
        commands.push(message);
        return;
      case 'start':
        return;
    }
  });

  const control = memory.attachControl(start.workers, start.controlFd);
  memory.bindControl(control);
  const segments = start.segments.map(({ spec, fd }) => memory.attachSegment(spec as unknown as SegmentSpec, fd));
  const backend = start.mode === 'ppo' ? await ports.openBackend(start.backend) : null;
  let yieldedMs = nowMs();
  const pause = async (): Promise<void> => {
    if (nowMs() - yieldedMs < YIELD_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    yieldedMs = nowMs();
  };
  const resume = openResume(start.mode === 'ppo' ? start.resume : null, (message) => channel.send({ type: 'warning', message }));
  const context: GroupContext = {
    start,
    memory,
    control,
    balance,
    clock,
    stats,
    backend,
    gatherThreads: ports.gatherThreads,
    pause,
    onPolicy: (policy) => {
      policies.push(policy);
      resume.restore(policy);
    },
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
  /** The group of a block, and the block's mix entry. */
  const find = (worker: number, block: number) => {
    const index = segments.findIndex((segment) => segment.spec.worker === worker);
    const segment = segments[index];
    const entry = start.segments[index]?.blockEntries[segment?.spec.blocks.findIndex((spec) => spec.id === block) ?? -1];
    if (segment === undefined || entry === undefined) throw new Error(`no block ${block} of worker ${worker} in this run`);
    return { segment, entry, group: groupOf.get(spaceSignature((start.entries[entry] as EntryMessage).spaces)) as SpaceGroup };
  };
  /** The tier whose first frame is still to come, and from which row on its envs sit in each group. */
  const awaited: { tier: number | null; readonly firstRow: Map<SpaceGroup, number> } = { tier: null, firstRow: new Map() };
  const obey = (command: Command): void => {
    switch (command.type) {
      case 'grow':
        awaited.tier = command.tier;
        awaited.firstRow.clear();
        for (const [worker, block] of command.blocks) {
          const { segment, entry, group } = find(worker, block);
          if (!awaited.firstRow.has(group)) awaited.firstRow.set(group, group.reader.rows);
          group.add(segment, block, entry);
        }
        for (const group of groups) group.reader.resetLatency();
        return;
      case 'drop':
        for (const [worker, block] of command.blocks) {
          const { segment, group } = find(worker, block);
          group.drop(segment, block);
        }
        return;
      case 'checkpoint':
        checkpointer.write(command.reason);
        return;
    }
  };

  channel.send({
    type: 'ready',
    pid: process.pid,
    backend: backend?.name ?? 'none',
    backendVersion: backend?.version ?? '',
    resumedFrom: resume.path,
  });
  const ticker = setInterval(() => channel.send({ type: 'stats', snapshot: snapshot() }), STATS_MS);
  try {
    while (!stopped) {
      await pause();
      for (let command = commands.shift(); command !== undefined; command = commands.shift()) obey(command);
      checkpointer.writeIfDue();
      let worked = false;
      for (const group of groups) {
        if (group.turn() > 0) worked = true;
        const firstRow = awaited.firstRow.get(group);
        if (awaited.tier !== null && firstRow !== undefined && group.sawRowFrom(firstRow)) {
          channel.send({ type: 'first-batch', tier: awaited.tier, monotonicMs: nowMs() });
          awaited.tier = null;
        }
        if (group.agent.updateDue) {
          await group.agent.update(() => stopped);
          worked = true;
        }
      }
      if (!worked) {
        clock.enter('wait');
        control.waitFrames(WAIT_MS);
        yieldedMs = Number.NEGATIVE_INFINITY;
      }
    }
    for (const group of groups) group.finish();
    checkpointer.write('stop');
    channel.send({ type: 'stopped', snapshot: snapshot() });
  } finally {
    clearInterval(ticker);
    for (const group of groups) group.agent.dispose();
    for (const segment of segments) segment.close();
    control.close();
  }
}
