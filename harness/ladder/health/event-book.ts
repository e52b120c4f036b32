// The newest events of each env and each worker, for the drill-down of the map. In the record texts are kept once, so that a thousand envs that
// fail alike cost a thousand numbers. Bounded by the constants; what finds no room is counted, and is in events.sqlite anyway.
import type { HealthReport } from '../../contract/health-report.js';

const MOST_ENVS = 2000;
const MOST_WORKERS = 256;
const ENV_EVENTS = 6;
const WORKER_EVENTS = 24;
const MOST_TEXTS = 600;
const MOST_TEXT_CHARS = 200;

export interface BookedEvent {
  readonly runS: number;
  readonly type: string;
  readonly message: string;
  readonly worker?: number;
  /** One env, or the envs of a batch. */
  readonly envIds: readonly number[];
}

export interface EventBook {
  add(event: BookedEvent): void;
  record(): HealthReport['events'];
}

interface Line {
  readonly runS: number;
  readonly type: string;
  readonly text: string;
}

export function createEventBook(): EventBook {
  const envs = new Map<number, Line[]>();
  const workers = new Map<number, Line[]>();
  let leftOut = 0;

  function push(into: Map<number, Line[]>, key: number, line: Line, most: number, mostKeys: number): void {
    const lines = into.get(key);
    if (lines === undefined) {
      if (into.size < mostKeys) into.set(key, [line]);
      else leftOut++;
    } else if (lines.push(line) > most) {
      // The first one stays: how it began tells more than the middle.
      lines.splice(1, 1);
      leftOut++;
    }
  }

  return {
    add({ runS, type, message, worker, envIds }) {
      const line = { runS: Math.max(0, Math.round(runS * 10) / 10), type, text: plain(message) };
      for (const env of envIds) {
        // Without its own number the text is the same for all envs with that trouble.
        const text = line.text.replace(new RegExp(`\\benv ${env}\\b`, 'g'), 'this env');
        push(envs, env, { ...line, text }, ENV_EVENTS, MOST_ENVS);
      }
      // Failures of its envs would push out what happened to the worker itself.
      if (worker !== undefined && (envIds.length === 0 || type.startsWith('worker-')))
        push(workers, worker, line, WORKER_EVENTS, MOST_WORKERS);
    },
    record() {
      const types = new Map<string, number>();
      const texts = new Map<string, number>();
      const indexIn = (table: Map<string, number>, text: string, most: number): number => {
        const found = table.get(text);
        if (found !== undefined) return found;
        if (table.size >= most) return -1;
        table.set(text, table.size);
        return table.size - 1;
      };
      const packed = (of: Map<number, Line[]>) =>
        [...of]
          .sort(([a], [b]) => a - b)
          .map(([key, lines]): [number, [number, number, number][]] => [
            key,
            lines.map(({ runS, type, text }) => [runS, indexIn(types, type, Number.POSITIVE_INFINITY), indexIn(texts, text, MOST_TEXTS)]),
          ]);
      // Workers first: few, and the ones whose texts must not be missing.
      const byWorker = packed(workers);
      const byEnv = packed(envs);
      return { types: [...types.keys()], texts: [...texts.keys()], envs: byEnv, workers: byWorker, left_out: leftOut };
    },
  };
}

/** Control characters would take six bytes each in JSON, and have no meaning here. */
function plain(message: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is being removed
  return message.slice(0, MOST_TEXT_CHARS).replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}
