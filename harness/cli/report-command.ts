// `envladder report DIR`: renders a run's report again from its folder alone, in any format, and prints the summary.
import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { REPORT_FORMATS, type ReportFormat } from '../../reports/report-format.js';
import { summarise } from '../../reports/summarise.js';
import { EnvladderError } from '../contract/errors.js';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { RUN_RECORD_NAME } from '../contract/run-record.js';
import { sealIfDead } from '../ladder/seal-dead-siblings.js';

const EXAMPLES = `
Formats: md (report.md), html (report.html), junit (junit.xml), tensorboard (tensorboard/), csv (tiers.csv, kinds.csv),
prometheus (metrics.prom), github (github-summary.md), all. Without --format: what a ladder writes, md,html,junit,tensorboard.

Examples:
  npm run -s envladder -- report runs/ID                                    render again, print the summary
  npm run -s envladder -- report runs/ID --format csv --out figures         figures for a spreadsheet
  npm run -s envladder -- report runs/ID --format github && cat runs/ID/github-summary.md >> "$GITHUB_STEP_SUMMARY"
  npm run -s envladder -- report runs/ID --format tensorboard && tensorboard --logdir runs`;

interface ReportFlags {
  readonly json?: boolean;
  readonly format?: readonly ReportFormat[];
  readonly out?: string;
}

function parseFormats(text: string): readonly ReportFormat[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('all')) return REPORT_FORMATS;
  const known = names.map((name) => REPORT_FORMATS.find((format) => format === name));
  const unknown = names.find((_, i) => known[i] === undefined);
  if (unknown !== undefined) throw new InvalidArgumentError(`'${unknown}' is no format; use all or some of ${REPORT_FORMATS.join(',')}`);
  return [...new Set(known.filter((format) => format !== undefined))];
}

/** Tab completion goes on to the record: runs/ID/run.json means runs/ID. */
function folderOf(given: string): string {
  return basename(given) === RUN_RECORD_NAME && statSync(given, { throwIfNoEntry: false })?.isFile() === true ? dirname(given) : given;
}

/** A folder that cannot be sealed (another version, damaged, read-only) is rendered or refused as it is, by the reader of reports. */
async function sealIfPossible(dir: string): Promise<boolean> {
  try {
    return await sealIfDead(dir);
  } catch (error) {
    if (error instanceof EnvladderError || (error as NodeJS.ErrnoException).code !== undefined) return false;
    throw error;
  }
}

/** Adds the command. */
export function addReportCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command('report')
    .argument('<dir>', 'run folder: runs/ID')
    .description('render the report of a run again and print its summary')
    .option('--format <list>', `all, or some of ${REPORT_FORMATS.join()}`, parseFormats)
    .option('--out <dir>', 'folder to write to (default: the run folder)')
    .option('--json', 'print the run record as one JSON document on stdout, nothing else')
    .addHelpText('after', EXAMPLES)
    .action(async (given: string, flags: ReportFlags) => {
      const dir = folderOf(given);
      const sealed = await sealIfPossible(dir);
      if (sealed && flags.json !== true) process.stderr.write(`${dir}: its supervisor died; its record now says so\n`);
      // Loaded here: drawing brings a DOM with it that no other command should wait for.
      const { renderReport } = await import('../../reports/render-report.js');
      const { record, written } = renderReport(dir, {
        ...(flags.format === undefined ? {} : { formats: flags.format }),
        ...(flags.out === undefined ? {} : { out: flags.out }),
      });
      process.stdout.write(
        flags.json === true
          ? `${JSON.stringify(record, null, 2)}\n`
          : `${summarise(record)}\n\n${written.map((path) => `  report  ${path}\n`).join('')}`,
      );
      onExit(EXIT.good);
    });
}
