// Shows the climb while it runs, on stderr so that stdout stays for results: redrawn in place on a terminal, one line every five seconds
// elsewhere, nothing with --json but what must be heard.
import { createLogUpdate } from 'log-update';
import type { LadderStatus } from '../ladder/ladder-status.js';
import { statusLine, statusLines } from './status-text.js';

const REDRAW_MS = 250;
const LINE_MS = 5000;

export interface StatusView {
  begin(read: () => LadderStatus): void;
  /** Prints a line that stays. */
  say(message: string): void;
  /** Takes the live part away; what was said stays. */
  end(): void;
}

function terminalView(stream: NodeJS.WriteStream): StatusView {
  const update = createLogUpdate(stream);
  let timer: NodeJS.Timeout | undefined;
  let draw: () => void = () => undefined;
  return {
    begin(read) {
      draw = () => update(statusLines(read(), stream.columns ?? 80).join('\n'));
      timer = setInterval(() => draw(), REDRAW_MS);
      draw();
    },
    say(message) {
      update.clear();
      stream.write(`${message}\n`);
      if (timer !== undefined) draw();
    },
    end() {
      clearInterval(timer);
      timer = undefined;
      update.clear();
      update.done();
    },
  };
}

function plainView(stream: NodeJS.WriteStream): StatusView {
  let timer: NodeJS.Timeout | undefined;
  return {
    begin(read) {
      timer = setInterval(() => stream.write(`${statusLine(read())}\n`), LINE_MS);
    },
    say: (message) => void stream.write(`${message}\n`),
    end: () => clearInterval(timer),
  };
}

const silentView: StatusView = { begin: () => undefined, say: () => undefined, end: () => undefined };

/** The view that fits `stream`. */
export function createStatusView(stream: NodeJS.WriteStream, json: boolean): StatusView {
  if (json) return silentView;
  return stream.isTTY === true && process.env.TERM !== 'dumb' ? terminalView(stream) : plainView(stream);
}
