// `envladder history`: adds runs to the history, prints where levels changed and draws the page.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readRuns } from '../../reports/compare/read-runs.js';
import { appendRuns, type History, readHistories } from '../../reports/history/history-folder.js';
import { historyJson } from '../../reports/history/history-json.js';
import { renderHistoryTerminal } from '../../reports/history/render-terminal.js';
import { EnvladderError } from '../contract/errors.js';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';

/** Added by one call. */
const MAX_ADDED_RUNS = 1_000;

const EXAMPLES = `
Examples:
  npm run -s envladder -- history                     print and draw what is in history/
  npm run -s envladder -- history runs/ID             add a run first
  npm run -s envladder -- history runs/               add every run in a folder first
  npm run -s envladder -- history --dir ci/history runs/ID

A file per plan, configuration and machine class; lines are only ever added. Changes of level are advice: docs/compare.md.`;

/** Adds the command; `onExit` takes the exit code. */
export function addHistoryCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command('history')
    .argument('[runs...]', 'run folders, or folders of run folders, to add first')
    .description('keep runs over time, find where a metric changed its level, draw it')
    .option('--dir <dir>', 'folder of the history files and of history.html', 'history')
    .option('--json', 'print series and changes as one JSON document on stdout, nothing else')
    .addHelpText('after', EXAMPLES)
    .action(async (runs: string[], flags: { dir: string; json?: boolean }) => {
      if (runs.length > 0) appendRuns(flags.dir, readRuns(runs, MAX_ADDED_RUNS));
      const histories = readHistories(flags.dir);
      if (histories.length === 0) {
        throw new EnvladderError('bad-usage', `${flags.dir}: no history yet; add a run with: npm run -s envladder -- history runs/ID`);
      }
      const page = await writePage(flags.dir, histories);
      process.stdout.write(
        flags.json === true
          ? `${JSON.stringify(histories.map(historyJson), null, 2)}\n`
          : `\n${renderHistoryTerminal(histories)}\n\n  page  ${page}\n`,
      );
      onExit(EXIT.good);
    });
}

/** A reader sees the old or the new page. */
async function writePage(dir: string, histories: readonly History[]): Promise<string> {
  // Loaded here: drawing brings a DOM with it that no other command should wait for.
  const { renderHistoryHtml } = await import('../../reports/history/render-html.js');
  const path = join(dir, 'history.html');
  const temp = join(dir, `.history.html.${process.pid}.tmp`);
  try {
    writeFileSync(temp, renderHistoryHtml(histories));
    renameSync(temp, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === undefined) throw cause;
    throw new EnvladderError(
      'record-lost',
      `${path} could not be written (${(cause as NodeJS.ErrnoException).code}): make the folder writable`,
      {
        cause,
      },
    );
  }
  return path;
}
