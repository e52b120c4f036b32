// A tool's way to command a run through the state store: one command into the stream, then its answer out of the other stream.
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { CtlAnswer, CtlCommand } from '../../contract/ctl.js';
import type { StateStore } from './state-store.js';

const POLL_MS = 100;

const answerSchema = z.object({
  id: z.string(),
  ok: z.boolean(),
  message: z.string(),
  detail: z.record(z.string(), z.unknown()).optional(),
});

/** Rejects when the store cannot be reached, or when no answer came within `limitMs`: the command may have been obeyed all the same. */
export async function askByState(store: StateStore, command: CtlCommand, limitMs = 10_000): Promise<CtlAnswer> {
  let seen = await store.sendCommand(JSON.stringify(command));
  for (const deadline = Date.now() + limitMs; Date.now() < deadline; await pause(POLL_MS)) {
    for (const { entry, text } of await store.readAnswers(seen)) {
      seen = entry;
      const answer = answerOf(text);
      if (answer?.id === command.id) return answer;
    }
  }
  throw new Error(`no answer to ${command.command} within ${limitMs / 1000} s: does the run still go on?`);
}

function answerOf(text: string): CtlAnswer | null {
  try {
    return answerSchema.parse(JSON.parse(text)) as CtlAnswer;
  } catch {
    return null;
  }
}
