// The page's files, read once at start. They are plain browser files beside this one; in dist, where only TypeScript is compiled to, they
// are found in the sources above it. Addresses between them get the token, because every request needs it.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

const FILES: Readonly<Record<string, { readonly name: string; readonly type: string }>> = {
  '/': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/live.css': { name: 'live.css', type: 'text/css; charset=utf-8' },
  '/figures.css': { name: 'figures.css', type: 'text/css; charset=utf-8' },
  '/live.js': { name: 'live.js', type: 'text/javascript; charset=utf-8' },
  '/chart.js': { name: 'chart.js', type: 'text/javascript; charset=utf-8' },
  '/env-map.js': { name: 'env-map.js', type: 'text/javascript; charset=utf-8' },
  '/format.js': { name: 'format.js', type: 'text/javascript; charset=utf-8' },
};

/** Addresses of the page's own files, as they stand in HTML and in imports. */
const OWN = /(["'])(\.\/)?((?:live|figures|chart|env-map|format)\.(?:js|css))\1/g;

function pageFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  if (existsSync(join(here, 'page', 'index.html'))) return join(here, 'page');
  for (let folder = here; ; folder = dirname(folder)) {
    const inSources = join(folder, 'harness', 'live', 'page');
    if (existsSync(join(inSources, 'index.html'))) return inSources;
    if (dirname(folder) === folder) throw new Error('harness/live/page is missing; reinstall envladder');
  }
}

/** By path. */
export function readPageFiles(token: string): ReadonlyMap<string, PageFile> {
  const folder = pageFolder();
  return new Map(
    Object.entries(FILES).map(([path, { name, type }]) => {
      const text = readFileSync(join(folder, name), 'utf8').replace(OWN, `$1./$3?token=${token}$1`);
      return [path, { type, body: Buffer.from(text) }];
    }),
  );
}
