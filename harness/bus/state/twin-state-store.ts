// The state store in this process's memory: for tests, and for a run without Redis whose command reader and mirror need no second code path.
// It packs and unpacks what it is given, so that nothing passes here that would not pass Redis.
import { packEnvs, packRewards, packScores, unpackEnvs, unpackRewards, unpackScores } from './env-pack.js';
import { MAX_STREAM_ENTRIES, type Scores, type StateBatch, type StateStore, type StreamEntry } from './state-store.js';

export interface TwinStateStore extends StateStore {
  /** As FLUSHALL does. */
  wipe(): void;
  /** From here on every call rejects with this reason; null: reachable again. */
  fail(reason: string | null): void;
  /** From here on writes are refused with this reason, as by a server out of memory; null: taken again. */
  refuse(reason: string | null): void;
}

interface Held {
  generation: string | null;
  batch: Partial<StateBatch>;
  /** Worker -> JSON. */
  readonly workers: Map<number, string>;
  readonly chunks: Record<'envs' | 'rewards', Record<string, Buffer>>;
  scores: { readonly scores: Scores; readonly chunks: Record<string, Buffer> } | null;
  commands: StreamEntry[];
  taken: StreamEntry[];
  answers: StreamEntry[];
  readonly beats: Map<number, number>;
}

const empty = (): Held => ({
  generation: null,
  batch: {},
  workers: new Map(),
  chunks: { envs: {}, rewards: {} },
  scores: null,
  commands: [],
  taken: [],
  answers: [],
  beats: new Map(),
});

export function createTwinStateStore(): TwinStateStore {
  let held = empty();
  let failing: string | null = null;
  let refusing: string | null = null;
  let entries = 0;
  let recover = false;
  const listeners = new Set<(version: number) => void>();
  const reach = async (): Promise<void> => {
    await new Promise((done) => setImmediate(done));
    if (failing !== null) throw new Error(failing);
  };
  const entryId = (): string => `${++entries}-0`;
  const after = (a: string, b: string): boolean => Number.parseInt(a, 10) > Number.parseInt(b, 10);

  return {
    name: 'twin',
    async write(batch) {
      await reach();
      const known = held.generation === batch.generation;
      if (refusing !== null) return { known, refused: refusing, commands: 1 };
      held.generation = batch.generation;
      held.batch = { info: structuredClone(batch.info) };
      for (const beat of batch.workers) held.workers.set(beat.worker, JSON.stringify(beat));
      if (batch.envs !== undefined) Object.assign(held.chunks.envs, packEnvs(batch.envs));
      if (batch.rewards !== undefined) Object.assign(held.chunks.rewards, packRewards(batch.rewards));
      if (batch.scores !== undefined) {
        held.scores = { scores: structuredClone(batch.scores), chunks: { ...packScores(batch.scores) } };
        const { version } = batch.scores;
        setImmediate(() => {
          for (const listener of listeners) listener(version);
        });
      }
      return { known, refused: null, commands: 1 };
    },
    async readInfo() {
      await reach();
      return held.batch.info ?? null;
    },
    async readWorkers() {
      await reach();
      return [...held.workers].sort(([a], [b]) => a - b).map(([, text]) => JSON.parse(text));
    },
    async readEnvs() {
      await reach();
      return unpackEnvs(held.chunks.envs);
    },
    async readRewards() {
      await reach();
      return unpackRewards(held.chunks.rewards);
    },
    async readScores() {
      await reach();
      return held.scores === null ? null : { ...held.scores.scores, ...unpackScores(held.scores.chunks) };
    },
    async scoresVersion() {
      await reach();
      return held.scores?.scores.version ?? 0;
    },
    onScoresHint(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async sendCommand(text) {
      await reach();
      if (refusing !== null) throw new Error(refusing);
      held.commands.push({ entry: entryId(), text });
      return held.answers.at(-1)?.entry ?? '0-0';
    },
    async takeCommands(limit) {
      await reach();
      if (recover) {
        recover = held.taken.length > limit;
        return { commands: held.taken.slice(0, limit), overrun: 0 };
      }
      const overrun = Math.max(0, held.commands.length - MAX_STREAM_ENTRIES);
      held.commands.splice(0, overrun);
      const commands = held.commands.splice(0, limit);
      held.taken.push(...commands);
      return { commands, overrun };
    },
    async settleCommand(entry, answer) {
      recover = true;
      await reach();
      recover = false;
      held.taken = held.taken.filter((each) => each.entry !== entry);
      if (answer !== null) held.answers = [...held.answers, { entry: entryId(), text: answer }].slice(-MAX_STREAM_ENTRIES);
    },
    async readAnswers(entry) {
      await reach();
      return held.answers.filter((each) => after(each.entry, entry));
    },
    async writeBeat(worker, atMs) {
      await reach();
      held.beats.set(worker, atMs);
    },
    async readBeats() {
      await reach();
      return new Map(held.beats);
    },
    pending: () => 0,
    close: () => listeners.clear(),
    wipe: () => {
      held = empty();
    },
    fail: (reason) => {
      failing = reason;
    },
    refuse: (reason) => {
      refusing = reason;
    },
  };
}
