// Every format a report comes in, as the files it is made of. One list, so that the command line, the end of a ladder and the tests know
// the same formats. Rendering is pure: a format takes the model and returns names and contents.
import type { ReportModel } from './model.js';
import { renderKindsCsv, renderTiersCsv } from './render/csv.js';
import { renderGithubSummary } from './render/github-summary.js';
import { renderHtml } from './render/html.js';
import { renderJunit } from './render/junit.js';
import { renderMarkdown } from './render/markdown.js';
import { renderPrometheus } from './render/prometheus.js';
import { renderEventFile } from './render/tensorboard/event-file.js';
import type { ReportFormat } from './report-format.js';

export interface ReportFile {
  /** Below the folder that the report goes to; at most one folder deep. */
  readonly name: string;
  readonly content: string | Uint8Array;
}

type Render = (model: ReportModel) => readonly ReportFile[];

const RENDER = {
  md: (model) => [{ name: 'report.md', content: renderMarkdown(model) }],
  html: (model) => [{ name: 'report.html', content: renderHtml(model) }],
  junit: (model) => [{ name: 'junit.xml', content: renderJunit(model) }],
  tensorboard: (model) => {
    const { name, bytes } = renderEventFile(model);
    return [{ name: `tensorboard/${name}`, content: bytes }];
  },
  csv: (model) => [
    { name: 'tiers.csv', content: renderTiersCsv(model) },
    { name: 'kinds.csv', content: renderKindsCsv(model) },
  ],
  prometheus: (model) => [{ name: 'metrics.prom', content: renderPrometheus(model) }],
  github: (model) => [{ name: 'github-summary.md', content: renderGithubSummary(model) }],
} as const satisfies Record<ReportFormat, Render>;

export function renderFormat(format: ReportFormat, model: ReportModel): readonly ReportFile[] {
  return RENDER[format](model);
}
