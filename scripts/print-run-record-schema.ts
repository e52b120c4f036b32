// Prints the JSON Schema of run.json to docs/run-record.schema.json (or, with --stdout, to the terminal). Run it after a change of
// harness/contract/run-record.ts; a test fails while the printed schema is not the code's.
//   node --import tsx scripts/print-run-record-schema.ts
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runRecordJsonSchema } from '../harness/contract/run-record.js';

export const SCHEMA_PATH = fileURLToPath(new URL('../docs/run-record.schema.json', import.meta.url));

/** The schema as the file holds it. */
export function printSchema(): string {
  return `${JSON.stringify(runRecordJsonSchema(), null, 2)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--stdout')) process.stdout.write(printSchema());
  else writeFileSync(SCHEMA_PATH, printSchema());
}
