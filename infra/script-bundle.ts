// A concern's script as it is uploaded: the script with the libraries it sources put in their place, so that one file is all the host needs.
// The folder on the host is named after the content: another text never replaces a file that a resource in the stack still points at.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ConcernName } from './concern-names.js';

export interface ScriptBundle {
  readonly text: string;
  /** Relative to the login user's home. */
  readonly remotePath: string;
}

/** Folder of everything that the rig uploads, in the login user's home: SFTP has no sudo. */
export const UPLOADS = '.envladder-rig';

const SCRIPTS = join(import.meta.dirname, 'scripts');
/** `. "$(dirname "$0")/lib.sh"` in scripts, `. "${BASH_SOURCE[0]%/*}/lib-state.sh"` in libraries. */
const SOURCE_LINE = /^\. "(?:\$\(dirname "\$0"\)|\$\{BASH_SOURCE\[0\]%\/\*\})\/(lib(?:-[a-z]+)*\.sh)"$/;

function inlined(file: string, seen: Set<string>, scripts: string): string {
  return readFileSync(join(scripts, file), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const library = SOURCE_LINE.exec(line)?.[1];
      if (library === undefined) return [line];
      if (seen.has(library)) return [];
      seen.add(library);
      return [`# --- ${library}`, ...inlined(library, seen, scripts).trimEnd().split('\n'), `# --- ${basename(file)}`];
    })
    .join('\n');
}

/** Reads a concern's script and its libraries; the answer depends on their text alone. */
export function bundleScript(concern: ConcernName, scripts = SCRIPTS): ScriptBundle {
  const text = inlined(`${concern}.sh`, new Set(), scripts);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { text, remotePath: `${UPLOADS}/${hash}/${concern}.sh` };
}

/** The text that runs a bundled script on the host, as root. */
export function scriptCommand(bundle: ScriptBundle, user: string, words: string): string {
  return `${user === 'root' ? '' : 'sudo -n '}bash ${bundle.remotePath} ${words}`.trimEnd();
}
