// Writes report.md and report.html into a run folder, from that folder alone. The only impure part of rendering.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EnvladderError } from '../harness/contract/errors.js';
import { readReportModel } from './model.js';
import { renderHtml } from './render/html.js';
import { renderMarkdown } from './render/markdown.js';

export interface ReportPaths {
  readonly markdown: string;
  readonly html: string;
}

/** Renders the run in `dir`. Throws `bad-record` without a readable run.json, `record-lost` when a report cannot be written. */
export function renderReport(dir: string): ReportPaths {
  const model = readReportModel(dir);
  const paths = { markdown: join(dir, 'report.md'), html: join(dir, 'report.html') };
  replaceFile(paths.markdown, renderMarkdown(model));
  replaceFile(paths.html, renderHtml(model));
  return paths;
}

/** A reader sees the old or the new report. No flush: a report that a power cut takes is rendered again from the record. */
function replaceFile(path: string, text: string): void {
  const temp = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    writeFileSync(temp, text);
    renameSync(temp, path);
  } catch (cause) {
    rmSync(temp, { force: true });
    const errno = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new EnvladderError(
      'record-lost',
      `${path} could not be written (${errno}): free space there or make the folder writable, then render the report again`,
      { cause, detail: { path, errno } },
    );
  }
}
