// What every format is rendered from: the record, the thinned metrics and the health of one run folder, and nothing else. Reading it is the only
// impure step of a report; two readings of the same folder are equal.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { EnvladderError } from '../harness/contract/errors.js';
import { HEALTH_REPORT_NAME, type HealthReport } from '../harness/contract/health-report.js';
import type { MetricsLine } from '../harness/contract/metrics.js';
import { RUN_RECORD_VERSION, type RunRecord, runRecordSchema } from '../harness/contract/run-record.js';
import { readHealth } from './health/read-health.js';
import { formatBytes, oneLine } from './quantity.js';
import { readMetrics } from './read-metrics.js';
import { boundProblem } from './record-bounds.js';

export interface ReportModel {
  readonly record: RunRecord;
  /** Rising in time, at most some hundred lines. */
  readonly metrics: readonly MetricsLine[];
  /** Left out when the folder has no health.json. */
  readonly health?: HealthReport;
  /** Why there is a health.json and no `health`. */
  readonly healthProblem?: string;
}

/** The longest campaign stays far below; more is no record, and would not fit into memory as text and as values. */
const MAX_RECORD_BYTES = 128 * 2 ** 20;
const MAJOR = Number(RUN_RECORD_VERSION.split('.')[0]);

/** Reads a run folder. Throws `bad-record` when run.json is missing, broken, too large, or of another major version than this program reads. */
export function readReportModel(dir: string): ReportModel {
  const path = join(dir, 'run.json');
  const value = readJson(path);
  refuseOtherVersion(path, value);
  const parsed = runRecordSchema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = issue?.path.join('.') ?? '';
    throw refuse(
      path,
      `${field === '' ? '' : `${oneLine(field, 120)}: `}${oneLine(issue?.message ?? 'breaks the schema')}: the record is damaged or was written by hand`,
    );
  }
  const problem = boundProblem(parsed.data);
  if (problem !== undefined) throw refuse(path, `${problem}: the record is damaged or was written by hand`);
  return {
    record: parsed.data,
    metrics: readMetrics(join(dir, 'metrics.ndjson')),
    ...readHealth(join(dir, HEALTH_REPORT_NAME), parsed.data.run.id),
  };
}

function refuse(path: string, problem: string, cause?: unknown): EnvladderError {
  return new EnvladderError('bad-record', `${path}: ${problem}`, { cause, detail: { path } });
}

function readJson(path: string): unknown {
  let text: string;
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw new Error('it is no file');
    if (facts.size > MAX_RECORD_BYTES)
      throw new Error(`it has ${formatBytes(facts.size)}, a record has at most ${formatBytes(MAX_RECORD_BYTES)}`);
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw refuse(path, `cannot be read (${(cause as Error).message}): point at the folder of a run`, cause);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    // A record is replaced in one piece, so a torn one was cut by a copy or a disk.
    throw refuse(path, `is no JSON, or cut short (${oneLine((cause as Error).message, 160)}): copy the run folder again`, cause);
  }
}

/** Older and newer minor versions read: their fields have defaults, or are left out. Another major number means other fields. */
function refuseOtherVersion(path: string, value: unknown): void {
  const version = (value as { schema_version?: unknown } | null)?.schema_version;
  const major = typeof version === 'string' ? /^(\d{1,9})\.\d+\.\d+/.exec(version)?.[1] : undefined;
  if (major === undefined) {
    const found = typeof version === 'string' ? `its schema_version is '${oneLine(version, 40)}'` : 'it has no schema_version';
    throw refuse(path, `is no run record (${found}, wanted ${MAJOR}.x.y): point at the folder of a run`);
  }
  if (Number(major) === MAJOR) return;
  throw refuse(
    path,
    `has schema version ${oneLine(String(version), 40)}, this program reads ${MAJOR}.x: it needs an envladder that reads schema ${major}.x, ${
      Number(major) > MAJOR ? 'a newer one: upgrade' : 'an older one: use the version that wrote it'
    }`,
  );
}
