// What Redis answered that was a refusal (out of memory, read-only, wrong type), told from a connection that broke. Pure.
import { redisWords } from './redis-client.js';

/** First refusal among the replies of a pipeline. Throws when it was no reply at all: nobody was there. */
export function refusalIn(replies: [Error | null, unknown][] | null): string | null {
  for (const [error] of replies ?? []) {
    if (error === null) continue;
    if (!isReply(error)) throw error;
    return redisWords(error);
  }
  return null;
}

export function isReply(error: Error): boolean {
  return error.name === 'ReplyError';
}
