// github-summary.md: the run for a GitHub job summary (cat it into $GITHUB_STEP_SUMMARY) or a pull-request comment: verdict and ladder in
// sight, the rest folded. Stays far below GitHub's limits of 1 MiB per step and 65,536 characters per comment. Pure.
import type { ReportModel } from '../model.js';
import { formatCount, oneLine } from '../quantity.js';
import { ladderTable, objectivesTable, reproduceBlock, verdictLines } from './markdown.js';
import { inert } from './markdown-text.js';

/** Of one section; GitHub refuses a comment of 65,536 characters as a whole. */
const MAX_SECTION_CHARS = 12_000;

function fold(title: string, body: string): string {
  return body === '' ? '' : `\n<details><summary>${title}</summary>\n\n${body}\n\n</details>\n`;
}

/** Whole lines up to the limit. */
function cut(text: string): string {
  if (text.length <= MAX_SECTION_CHARS) return text;
  const lines = text.split('\n');
  const kept: string[] = [];
  let chars = 0;
  for (const line of lines) {
    chars += line.length + 1;
    if (chars > MAX_SECTION_CHARS) break;
    kept.push(line);
  }
  return `${kept.join('\n')}\n\n${formatCount(lines.length - kept.length)} more lines in report.md.`;
}

/** The whole text, ending in a newline. */
export function renderGithubSummary(model: ReportModel): string {
  const { record } = model;
  const where = `${oneLine(record.machine.cpu_model, 80)}, ${record.machine.cores} cores; ${oneLine(record.learner.backend ?? record.learner.mode, 40)}; envladder ${oneLine(record.run.envladder_version, 40)}`;
  return [
    `### envladder ${inert(record.run.id, 120)}\n\n${cut(verdictLines(record))}\n`,
    `\n${cut(ladderTable(model))}\n`,
    fold('Objectives', cut(objectivesTable(record))),
    fold('How to reproduce', `${cut(reproduceBlock(record))}\n\n${inert(where)}`),
  ].join('');
}
