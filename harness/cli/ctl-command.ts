// `envladder ctl`: asks a run that goes on, or tells it something. The run is found by its folder; it answers through its control socket.
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { type CtlAnswer, type CtlCommand, ctlCommandSchema } from '../contract/ctl.js';
import { ctlStatusSchema } from '../contract/ctl-status.js';
import { EnvladderError } from '../contract/errors.js';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { askRun, findLiveRun } from '../ladder/ask-run.js';
import { shownPath } from '../ladder/shown-path.js';
import { statusText } from './ctl-text.js';

const EXAMPLES = `
Commands:
  status              how the climb stands, and a line per worker
  replace-worker N    a new process, with the code that lies on the disk now, takes worker N's envs
  quarantine ENV      take an env out, as if it had used up its budget
  release ENV         end a quarantine: the env is built anew
  checkpoint          write a checkpoint now

Examples:
  npm run -s envladder -- ctl status                        the newest run under runs/ that is alive
  npm run -s envladder -- ctl --run runs/ID status --json   for a tool
  npm run -s envladder -- ctl replace-worker 3              after a fix in your env's code

Exit codes: 0 it was done, 2 no such command, run, worker or env. What each does: docs/control.md.`;

/** Commands that take a number, and what it is called in the command. */
const TARGET: Readonly<Record<string, 'worker' | 'envId'>> = { 'replace-worker': 'worker', quarantine: 'envId', release: 'envId' };

interface CtlFlags {
  readonly run?: string;
  readonly json?: boolean;
}

/** Adds the command; `onExit` takes the exit code. */
export function addCtlCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command('ctl')
    .argument('<command>', 'status, replace-worker, quarantine, release or checkpoint')
    .argument('[number]', 'worker or env id')
    .description('ask a run that goes on, or tell it something')
    .option('--run <dir>', 'run folder (default: the newest under runs/ that is alive)')
    .option('--json', 'print the answer as one JSON document on stdout, nothing else')
    .addHelpText('after', EXAMPLES)
    .action(async (word: string, number: string | undefined, flags: CtlFlags) => {
      const command = readWords(word, number);
      const cwd = process.cwd();
      const run = findLiveRun(flags.run, cwd);
      if (run.others > 0 && flags.json !== true) {
        const more = run.others === 1 ? 'one more run is' : `${run.others} more runs are`;
        process.stderr.write(`${shownPath(run.dir, cwd)} (${more} alive; --run names another)\n`);
      }
      const answer = await askRun(run, command);
      if (!answer.ok)
        throw new EnvladderError('bad-usage', `the run refused: ${visible(answer.message)}`, { detail: { ...answer.detail } });
      process.stdout.write(flags.json === true ? `${JSON.stringify(answer, null, 2)}\n` : `${answerText(answer, command)}\n`);
      onExit(EXIT.good);
    });
}

/** Throws `bad-usage` for what is no command; what the numbers may be, the contract says. */
export function readWords(word: string, number: string | undefined): CtlCommand {
  const target = TARGET[word];
  const known = ctlCommandSchema.options.map((option) => option.shape.command.value as string);
  if (!known.includes(word)) throw new EnvladderError('bad-usage', `ctl: '${word}' is no command; known: ${known.join(', ')}`);
  if (target === undefined && number !== undefined) throw new EnvladderError('bad-usage', `ctl ${word} takes no number, found '${number}'`);
  const what = target === 'worker' ? 'a worker' : 'an env id';
  if (target !== undefined && number === undefined)
    throw new EnvladderError('bad-usage', `ctl ${word} needs ${what}: npm run -s envladder -- ctl ${word} 3`);
  const parsed = ctlCommandSchema.safeParse({
    id: `ctl-${randomUUID()}`,
    command: word,
    ...(target === undefined ? {} : { [target]: /^\d{1,9}$/.test(number ?? '') ? Number(number) : Number.NaN }),
  });
  if (parsed.success) return parsed.data;
  const limit = target === 'worker' ? 255 : 1_000_000;
  throw new EnvladderError('bad-usage', `ctl ${word}: '${number}' is not ${what}: a whole number from 0 to ${limit}`);
}

function answerText(answer: CtlAnswer, command: CtlCommand): string {
  if (command.command !== 'status') return visible(answer.message);
  const status = ctlStatusSchema.safeParse(answer.detail);
  return visible(status.success ? statusText(status.data) : answer.message);
}

/** What comes from an env's own messages must not steer a terminal. */
function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, '�');
}
