// Commands and answers as Redis streams. Commands are read by a consumer group: what was delivered and got lost on the way to us is read
// again from the group's pending list, and an entry is deleted once it is settled, so that the stream holds only what nobody has done yet.
import type { Redis } from 'ioredis';
import { redisWords } from './redis-client.js';
import { refusalIn } from './redis-refusal.js';
import type { StateKeys } from './state-keys.js';
import { MAX_STREAM_ENTRIES, STATE_TTL_SECONDS, type StateStore, type StreamEntry } from './state-store.js';

const GROUP = 'supervisor';

export interface CommandStream {
  readonly send: StateStore['sendCommand'];
  readonly take: StateStore['takeCommands'];
  readonly settle: StateStore['settleCommand'];
}

type RawEntry = [entry: string, fields: string[] | null];

export function redisCommandStream(client: Redis, keys: StateKeys): CommandStream {
  /** Read what was delivered but never reached us, before anything new. */
  let recover = true;

  const makeGroup = async (): Promise<void> => {
    try {
      await client.xgroup('CREATE', keys.commands, GROUP, '0', 'MKSTREAM');
      await client.expire(keys.commands, STATE_TTL_SECONDS);
    } catch (error) {
      if (!redisWords(error).startsWith('BUSYGROUP')) throw error;
    }
  };
  const readGroup = async (from: string, limit: number): Promise<StreamEntry[]> => {
    const streams = await client.xreadgroup('GROUP', GROUP, 'supervisor', 'COUNT', limit, 'STREAMS', keys.commands, from);
    return entriesOf((streams as [string, RawEntry[]][] | null)?.[0]?.[1] ?? []);
  };
  return {
    async send(text: string): Promise<string> {
      const [newest] = await client.xrevrange(keys.answers, '+', '-', 'COUNT', 1);
      const pipeline = client.pipeline();
      pipeline.xadd(keys.commands, '*', 'json', text);
      pipeline.expire(keys.commands, STATE_TTL_SECONDS);
      const refused = refusalIn(await pipeline.exec());
      if (refused !== null) throw new Error(refused);
      return newest?.[0] ?? '0-0';
    },
    async take(limit: number): Promise<{ commands: readonly StreamEntry[]; overrun: number }> {
      try {
        const overrun = await client.xtrim(keys.commands, 'MAXLEN', MAX_STREAM_ENTRIES);
        const late = recover ? await readGroup('0', limit) : [];
        const commands = late.length > 0 ? late : await readGroup('>', limit);
        recover = late.length === limit;
        return { commands, overrun };
      } catch (error) {
        recover = true;
        if (!redisWords(error).startsWith('NOGROUP')) throw error;
        await makeGroup();
        return { commands: [], overrun: 0 };
      }
    },
    async settle(entry: string, answer: string | null): Promise<void> {
      const pipeline = client.pipeline();
      if (answer !== null) {
        pipeline.xadd(keys.answers, 'MAXLEN', MAX_STREAM_ENTRIES, '*', 'json', answer);
        pipeline.expire(keys.answers, STATE_TTL_SECONDS);
      }
      pipeline.xack(keys.commands, GROUP, entry);
      pipeline.xdel(keys.commands, entry);
      try {
        const refused = refusalIn(await pipeline.exec());
        if (refused !== null) throw new Error(refused);
      } catch (error) {
        recover = true;
        throw error;
      }
    },
  };
}

/** An entry that was pushed out while it was pending has no fields any more. */
export function entriesOf(raw: readonly RawEntry[]): StreamEntry[] {
  return raw.map(([entry, fields]) => {
    const at = fields?.indexOf('json') ?? -1;
    return { entry, text: at % 2 === 0 ? (fields?.[at + 1] ?? '') : '' };
  });
}
