// The terminal summary with the width and colours that fit a stream: the one rendering that depends on where it goes.
import type { RunRecord } from '../harness/contract/run-record.js';
import { renderTerminal } from './render/terminal.js';

/** The part of a stream and its surroundings that decide how it looks. */
export interface TerminalLike {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Summary of a run for `stream` (default stdout): its width, no colour when it is no terminal, NO_COLOR is set or TERM is dumb. */
export function summarise(record: RunRecord, stream: TerminalLike = process.stdout, env: NodeJS.ProcessEnv = process.env): string {
  const plain = stream.isTTY !== true || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb';
  return renderTerminal(record, { width: stream.columns ?? 100, colour: !plain });
}
