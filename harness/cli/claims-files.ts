// The three files of `envladder claims`: the record for programs and two pages rendered from it. Each appears in one piece.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { judgeClaims } from '../../reports/claims/judge-claims.js';
import { renderClaimsHtml } from '../../reports/claims/render-html.js';
import { renderClaimsMarkdown } from '../../reports/claims/render-markdown.js';
import { CLAIMS_RECORD_NAME, type ClaimsRecord } from '../contract/claims-record.js';
import { EnvladderError } from '../contract/errors.js';

/** Throws `record-lost` when a file cannot be written. */
export function writeClaimsFiles(dir: string, record: ClaimsRecord): void {
  const judged = judgeClaims(record);
  const files = {
    [CLAIMS_RECORD_NAME]: `${JSON.stringify(record, null, 2)}\n`,
    'claims.html': renderClaimsHtml(judged),
    'claims.md': renderClaimsMarkdown(judged),
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(dir, name);
    try {
      writeFileSync(`${path}.tmp`, text);
      renameSync(`${path}.tmp`, path);
    } catch (cause) {
      const errno = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
      throw new EnvladderError('record-lost', `${path} could not be written (${errno}); choose another folder with --out`, { cause });
    }
  }
}
