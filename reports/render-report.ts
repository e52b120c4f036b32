// Writes the report of a run, in the formats asked for, from its folder alone. The only impure part of rendering.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EnvladderError } from '../harness/contract/errors.js';
import type { RunRecord } from '../harness/contract/run-record.js';
import { renderFormat } from './formats.js';
import { readReportModel } from './model.js';
import { type ReportFormat, USUAL_FORMATS } from './report-format.js';

export interface ReportPaths {
  readonly markdown: string;
  readonly html: string;
  /** Every file written. */
  readonly written: readonly string[];
  readonly record: RunRecord;
}

export interface ReportOptions {
  /** Default: those a ladder leaves behind. */
  readonly formats?: readonly ReportFormat[];
  /** Folder to write to, made if need be; default: the run folder. */
  readonly out?: string;
}

/** Renders the run in `dir`. Throws `bad-record` without a readable run.json, `record-lost` when a report cannot be written. */
export function renderReport(dir: string, { formats = USUAL_FORMATS, out = dir }: ReportOptions = {}): ReportPaths {
  const model = readReportModel(dir);
  const written: string[] = [];
  for (const format of formats) {
    for (const { name, content } of renderFormat(format, model)) {
      const path = join(out, name);
      replaceFile(path, content);
      written.push(path);
    }
  }
  return { markdown: join(out, 'report.md'), html: join(out, 'report.html'), written, record: model.record };
}

/** One level at a time: Node's recursive mkdir never returns where a parent refuses with ENOENT, as in /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** A reader sees the old or the new report. No flush: a report that a power cut takes is rendered again from the record. */
function replaceFile(path: string, content: string | Uint8Array): void {
  const temp = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    makeFolder(dirname(path));
    writeFileSync(temp, content);
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
