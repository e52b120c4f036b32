// Where the package itself lies: built-in plans and the version number are found from here, in the sources and in dist alike.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The nearest folder above this file that holds envladder's package.json. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const file = join(folder, 'package.json');
    if (existsSync(file) && /"name"\s*:\s*"envladder"/.test(readFileSync(file, 'utf8'))) return folder;
    const parent = dirname(folder);
    if (parent === folder) throw new Error('envladder: package.json not found above the program; reinstall it');
    folder = parent;
  }
}

/** The package's version. */
export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
  return manifest.version;
}
