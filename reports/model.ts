// What every format is rendered from: the record and the thinned metrics of one run folder, and nothing else. Reading it is the only
// impure step of a report; two readings of the same folder are equal.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EnvladderError } from '../harness/contract/errors.js';
import type { MetricsLine } from '../harness/contract/metrics.js';
import { RUN_RECORD_VERSION, type RunRecord, runRecordSchema } from '../harness/contract/run-record.js';
import { readMetrics } from './read-metrics.js';

export interface ReportModel {
  readonly record: RunRecord;
  /** Rising in time, at most some hundred lines. */
  readonly metrics: readonly MetricsLine[];
}

/** Reads a run folder. Throws `bad-record` when run.json is missing, broken, or of a newer major version than this program knows. */
export function readReportModel(dir: string): ReportModel {
  const path = join(dir, 'run.json');
  const value = readJson(path);
  const version = String((value as { schema_version?: unknown } | null)?.schema_version ?? 'none');
  if (version.split('.')[0] !== RUN_RECORD_VERSION.split('.')[0]) {
    throw new EnvladderError(
      'bad-record',
      `${path} has schema version ${version}, this program reads ${RUN_RECORD_VERSION}: use the envladder that wrote it`,
      {
        detail: { path, version },
      },
    );
  }
  const parsed = runRecordSchema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new EnvladderError('bad-record', `${path}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'breaks the schema'}`, {
      detail: { path },
    });
  }
  return { record: parsed.data, metrics: readMetrics(join(dir, 'metrics.ndjson')) };
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new EnvladderError('bad-record', `${path} cannot be read (${(cause as Error).message}): point at the folder of a run`, {
      cause,
      detail: { path },
    });
  }
}
