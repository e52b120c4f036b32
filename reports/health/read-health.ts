// Reads health.json of a run folder, if there is one. A report never fails for it: what cannot be read is said in the report instead.
import { readFileSync, statSync } from 'node:fs';
import { HEALTH_REPORT_NAME, HEALTH_REPORT_VERSION, type HealthReport, healthReportSchema } from '../../harness/contract/health-report.js';
import { formatBytes, oneLine } from '../quantity.js';

/** A run of a million envs stays below; a run of 7,000 has less than one. */
const MAX_BYTES = 16 * 2 ** 20;
const MAJOR = HEALTH_REPORT_VERSION.split('.')[0];

export interface HealthReading {
  readonly health?: HealthReport;
  /** Why there is a file and no health, as a sentence. */
  readonly healthProblem?: string;
}

/** Empty when the folder has none: runs of before, runs that ended before they began. */
export function readHealth(path: string, runId: string): HealthReading {
  try {
    const facts = statSync(path);
    if (facts.size > MAX_BYTES) return problem(`has ${formatBytes(facts.size)}, at most ${formatBytes(MAX_BYTES)} are read`);
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const version = (value as { schema_version?: unknown } | null)?.schema_version;
    if (typeof version !== 'string' || version.split('.')[0] !== MAJOR) {
      return problem(`has schema version ${oneLine(String(version), 40)}, this program reads ${MAJOR}.x`);
    }
    const parsed = healthReportSchema.safeParse(value);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      return problem(`breaks its schema (${oneLine(issue?.path.join('.') ?? '', 80)}: ${oneLine(issue?.message ?? '', 120)})`);
    }
    if (parsed.data.run_id !== runId) return problem('belongs to another run');
    return { health: parsed.data };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    return problem(`cannot be read (${oneLine((error as Error).message, 160)})`);
  }
}

function problem(what: string): HealthReading {
  return { healthProblem: `${HEALTH_REPORT_NAME} ${what}: the report goes without it` };
}
