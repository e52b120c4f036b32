// Reads claims.json back: the only impure step of a claims page. A damaged, foreign or too new file ends with what it needs.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CLAIMS_RECORD_NAME, CLAIMS_RECORD_VERSION, type ClaimsRecord, claimsRecordSchema } from '../../harness/contract/claims-record.js';
import { EnvladderError } from '../../harness/contract/errors.js';
import { formatBytes, oneLine } from '../quantity.js';

/** 200 claims with all their samples stay far below. */
const MAX_BYTES = 32 * 2 ** 20;
const MAJOR = CLAIMS_RECORD_VERSION.split('.')[0] ?? '';

/** Reads `dir`/claims.json. Throws `bad-record`. */
export function readClaims(dir: string): ClaimsRecord {
  const path = join(dir, CLAIMS_RECORD_NAME);
  const refuse = (problem: string, cause?: unknown): EnvladderError =>
    new EnvladderError('bad-record', `${path}: ${problem}`, { cause, detail: { path } });
  let value: unknown;
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw new Error('it is no file');
    if (facts.size > MAX_BYTES)
      throw new Error(`it has ${formatBytes(facts.size)}, a record of claims has at most ${formatBytes(MAX_BYTES)}`);
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw refuse(`cannot be read (${oneLine((cause as Error).message, 160)}): point at a folder that \`envladder claims\` wrote`, cause);
  }
  const version = (value as { schema_version?: unknown } | null)?.schema_version;
  if (typeof version !== 'string' || version.split('.')[0] !== MAJOR) {
    const found = typeof version === 'string' ? `schema version ${oneLine(version, 40)}` : 'no schema_version';
    throw refuse(`has ${found}, this program reads ${MAJOR}.x: use the version of envladder that wrote it`);
  }
  const parsed = claimsRecordSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw refuse(
    `${oneLine(issue?.path.join('.') ?? '', 120)}: ${oneLine(issue?.message ?? 'breaks the schema')}: the record is damaged or was written by hand`,
  );
}
