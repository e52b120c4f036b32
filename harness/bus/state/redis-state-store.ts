// The state store in Redis. One connection for reads and writes, one for hints; every write is one pipeline, and every value in it absolute.
import type { Redis } from 'ioredis';
import { type Chunks, packEnvs, packRewards, packScores, unpackEnvs, unpackRewards, unpackScores } from './env-pack.js';
import { openRedis, redisWords } from './redis-client.js';
import { entriesOf, redisCommandStream } from './redis-command-stream.js';
import { isReply, refusalIn } from './redis-refusal.js';
import { type StateKeys, stateKeys } from './state-keys.js';
import {
  MAX_STREAM_ENTRIES,
  type RunInfo,
  type Scores,
  STATE_TTL_SECONDS,
  type StateBatch,
  type StateStore,
  type WorkerBeat,
  type WriteOutcome,
} from './state-store.js';

/** A hint connection that says nothing is asked this often whether it is still there. */
const HINT_PING_MS = 5_000;

export interface RedisStoreOptions {
  readonly url: string;
  readonly prefix: string;
  readonly runId: string;
  /** How it calls itself in CLIENT LIST. */
  readonly role?: string;
}

type Pipeline = ReturnType<Redis['pipeline']>;

/** Opens the store; it connects by itself, at once and whenever the connection is lost. Throws `bad-plan` for an unusable URL. */
export function openRedisStateStore({ url, prefix, runId, role = 'supervisor' }: RedisStoreOptions): StateStore {
  const keys = stateKeys(prefix, runId);
  const link = openRedis(url, `envladder-${role}`);
  const { client } = link;
  const commands = redisCommandStream(client, keys);
  let hints: (() => void) | null = null;
  const listeners = new Set<(version: number) => void>();

  /** The reason that helps: of the connection while there is none, else of the command. */
  const reached = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw new Error(link.trouble() ?? `Redis: ${redisWords(error)}`);
    }
  };
  const chunksOf = async (key: string): Promise<Chunks> => reached(client.hgetallBuffer(key));

  return {
    name: 'redis',
    write: (batch) => reached(writeBatch(client, keys, batch)),
    async readInfo() {
      const text = await reached(client.get(keys.info));
      return text === null ? null : (JSON.parse(text) as RunInfo);
    },
    async readWorkers() {
      const beats = Object.values(await reached(client.hgetall(keys.workers))).map((text) => JSON.parse(text) as WorkerBeat);
      return beats.sort((a, b) => a.worker - b.worker);
    },
    readEnvs: async () => unpackEnvs(await chunksOf(keys.envs)),
    readRewards: async () => unpackRewards(await chunksOf(keys.rewards)),
    readScores: async () => scoresOf(await chunksOf(keys.scores)),
    scoresVersion: async () => Number((await reached(client.hget(keys.scores, 'version'))) ?? 0),
    onScoresHint(listener) {
      listeners.add(listener);
      hints ??= listenForHints(url, role, keys.scoresHint, (version) => {
        for (const each of listeners) each(version);
      });
      return () => void listeners.delete(listener);
    },
    sendCommand: (text) => reached(commands.send(text)),
    takeCommands: (limit) => reached(commands.take(limit)),
    settleCommand: (entry, answer) => reached(commands.settle(entry, answer)),
    readAnswers: async (after) => entriesOf(await reached(client.xrange(keys.answers, `(${after}`, '+', 'COUNT', MAX_STREAM_ENTRIES))),
    async writeBeat(worker, atMs) {
      const pipeline = client.pipeline();
      pipeline.hset(keys.beats, String(worker), String(atMs));
      pipeline.expire(keys.beats, STATE_TTL_SECONDS);
      const refused = refusalIn(await reached(pipeline.exec()));
      if (refused !== null) throw new Error(`Redis: ${refused}`);
    },
    async readBeats() {
      const beats = await reached(client.hgetall(keys.beats));
      return new Map(Object.entries(beats).map(([worker, atMs]) => [Number(worker), Number(atMs)]));
    },
    pending: link.pending,
    close() {
      hints?.();
      link.close();
    },
  };
}

async function writeBatch(client: Redis, keys: StateKeys, batch: StateBatch): Promise<WriteOutcome> {
  const pipeline = client.pipeline();
  const ttl = STATE_TTL_SECONDS;
  pipeline.get(keys.generation);
  pipeline.set(keys.generation, batch.generation, 'EX', ttl);
  pipeline.set(keys.info, JSON.stringify(batch.info), 'EX', ttl);
  if (batch.workers.length > 0) {
    pipeline.hset(keys.workers, Object.fromEntries(batch.workers.map((beat) => [String(beat.worker), JSON.stringify(beat)])));
    pipeline.expire(keys.workers, ttl);
  }
  if (batch.envs !== undefined) addChunks(pipeline, keys.envs, packEnvs(batch.envs));
  if (batch.rewards !== undefined) addChunks(pipeline, keys.rewards, packRewards(batch.rewards));
  pipeline.expire(keys.scores, ttl);
  const commands = pipeline.length;
  const replies = await pipeline.exec();
  const refused = refusalIn(replies) ?? (batch.scores === undefined ? null : await writeScores(client, keys, batch.scores));
  return { known: replies?.[0]?.[1] === batch.generation, refused, commands: commands + (batch.scores === undefined ? 0 : SCORE_COMMANDS) };
}

function addChunks(pipeline: Pipeline, key: string, chunks: Chunks): void {
  if (Object.keys(chunks).length === 0) return;
  pipeline.hset(key, { ...chunks });
  pipeline.expire(key, STATE_TTL_SECONDS);
}

/** With its own MULTI and EXEC. */
const SCORE_COMMANDS = 6;

/** In one transaction, so that a reader never sees the envs of one version and the kinds of another; the hint comes after the truth. */
async function writeScores(client: Redis, keys: StateKeys, scores: Scores): Promise<string | null> {
  const fields: Record<string, string | Buffer> = { version: String(scores.version) };
  for (const [kind, score] of Object.entries(scores.kinds)) fields[`kind:${kind}`] = String(score);
  for (const [chunk, bytes] of Object.entries(packScores(scores))) fields[`envs:${chunk}`] = bytes;
  const transaction = client.multi();
  transaction.del(keys.scores);
  transaction.hset(keys.scores, fields);
  transaction.expire(keys.scores, STATE_TTL_SECONDS);
  transaction.publish(keys.scoresHint, String(scores.version));
  try {
    return refusalIn(await transaction.exec());
  } catch (error) {
    // EXECABORT: one of them was refused, and so all of them.
    if (error instanceof Error && isReply(error)) return redisWords(error);
    throw error;
  }
}

function scoresOf(fields: Chunks): Scores | null {
  const version = Number(fields['version'] ?? 0);
  if (version === 0) return null;
  const under = (prefix: string): [string, Buffer][] =>
    Object.entries(fields).flatMap(([name, bytes]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), bytes]] : []));
  return {
    version,
    kinds: Object.fromEntries(under('kind:').map(([kind, bytes]) => [kind, Number(bytes.toString())])),
    ...unpackScores(Object.fromEntries(under('envs:'))),
  };
}

/** A connection of its own, since a subscriber can be thrown out for being slow. It is only a hint: whoever needs to know polls the version. */
function listenForHints(url: string, role: string, channel: string, tell: (version: number) => void): () => void {
  const link = openRedis(url, `envladder-${role}-hints`, (client) => void client.subscribe(channel).catch(() => undefined));
  link.client.on('message', (_, text: string) => {
    const version = Number(text);
    if (Number.isSafeInteger(version)) tell(version);
  });
  const timer = setInterval(() => void link.client.ping().catch(() => undefined), HINT_PING_MS);
  return () => {
    clearInterval(timer);
    link.close();
  };
}
