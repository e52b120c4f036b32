// `envladder report DIR`: renders a run's report again from its folder alone, and prints the summary.
import type { Command } from 'commander';
import { readReportModel } from '../../reports/model.js';
import { summarise } from '../../reports/summarise.js';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { sealIfDead } from '../ladder/seal-dead-siblings.js';

/** Adds the command. */
export function addReportCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command('report')
    .argument('<dir>', 'run folder: runs/ID')
    .description('render the report of a run again and print its summary')
    .option('--json', 'print the run record as one JSON document on stdout, nothing else')
    .action(async (dir: string, flags: { json?: boolean }) => {
      const sealed = await sealIfDead(dir);
      if (sealed && flags.json !== true) process.stderr.write(`${dir}: its supervisor died; its record now says so\n`);
      // Loaded here: drawing brings a DOM with it that no other command should wait for.
      const { renderReport } = await import('../../reports/render-report.js');
      renderReport(dir);
      const { record } = readReportModel(dir);
      process.stdout.write(
        flags.json === true ? `${JSON.stringify(record, null, 2)}\n` : `${summarise(record)}\n\n  report  ${dir}/report.html\n`,
      );
      onExit(EXIT.good);
    });
}
