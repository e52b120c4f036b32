// The same command id twice is the same command: it is answered from memory and not obeyed again, whichever way it came. Remembers the
// newest MAX_IDS ids; answers with a large detail lose it first, so that the memory has a bound in bytes too.
import type { CtlAnswer, CtlCommand } from '../contract/ctl.js';

export type Obey = (command: CtlCommand) => Promise<CtlAnswer>;

export const MAX_IDS = 1_000;
/** Of the details kept, as JSON. */
export const MAX_DETAIL_BYTES = 2 ** 20;

interface Memory {
  readonly asked: string;
  answer: Promise<CtlAnswer>;
  detailBytes: number;
}

/** Wraps `obey` once per run; give the result to every way in. Never rejects. */
export function obeyOnce(obey: Obey): Obey & { readonly remembered: () => { readonly ids: number; readonly detailBytes: number } } {
  const memories = new Map<string, Memory>();
  let detailBytes = 0;

  const forgetDetail = (memory: Memory): void => {
    detailBytes -= memory.detailBytes;
    memory.detailBytes = 0;
  };
  async function keep(memory: Memory, answer: CtlAnswer): Promise<void> {
    if (answer.detail === undefined) return;
    memory.detailBytes = Buffer.byteLength(JSON.stringify(answer.detail));
    detailBytes += memory.detailBytes;
    for (const each of memories.values()) {
      if (detailBytes <= MAX_DETAIL_BYTES) break;
      if (each.detailBytes === 0) continue;
      forgetDetail(each);
      const { detail: _, ...rest } = await each.answer;
      each.answer = Promise.resolve({ ...rest, message: `${rest.message} (answered before; its detail is not kept)` });
    }
  }
  async function ask(command: CtlCommand): Promise<CtlAnswer> {
    try {
      return { ...(await obey(command)), id: command.id };
    } catch (error) {
      return { id: command.id, ok: false, message: `the command failed: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  const once = async (command: CtlCommand): Promise<CtlAnswer> => {
    const asked = JSON.stringify(command);
    const before = memories.get(command.id);
    if (before !== undefined) {
      if (before.asked === asked) return before.answer;
      return { id: command.id, ok: false, message: 'this id was used for another command; give every command an id of its own' };
    }
    const memory: Memory = { asked, answer: ask(command), detailBytes: 0 };
    memories.set(command.id, memory);
    const [oldest] = memories.keys();
    if (memories.size > MAX_IDS && oldest !== undefined) {
      const gone = memories.get(oldest);
      if (gone !== undefined) forgetDetail(gone);
      memories.delete(oldest);
    }
    const answer = await memory.answer;
    if (memories.get(command.id) === memory) await keep(memory, answer);
    return answer;
  };
  return Object.assign(once, { remembered: () => ({ ids: memories.size, detailBytes }) });
}
