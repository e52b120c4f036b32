// Which files of node_modules a release carries: those of production dependencies, without what only builds, documents or debugs them. Pure:
// decides by npm's lock file and by names. The release must run with these alone, which the rig's suite shows.
import { z } from 'zod';

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ dev: z.boolean().optional(), optional: z.boolean().optional(), devOptional: z.boolean().optional() }),
  ),
});

/** Folders of production packages in `lock` (text of package-lock.json), parents before what is nested in them. */
export function productionPackages(lock: string): string[] {
  const { packages } = lockSchema.parse(JSON.parse(lock));
  return Object.entries(packages)
    .filter(([path, entry]) => path.startsWith('node_modules/') && !entry.dev && !entry.optional && !entry.devOptional)
    .map(([path]) => path)
    .sort();
}

/** Sources and leftovers of compiled packages; the compiled file itself is all that runs. */
const BUILD_FOLDERS = /(^|\/)(deps|src|build)\//;
/** TypeScript declarations and maps serve editors and debuggers; a map of tfjs alone is larger than everything that runs. */
const FOR_TOOLS = /\.(map|d\.ts|d\.mts|d\.cts|tsbuildinfo|md|markdown|flow|gypi|mk|o|a|d)$/i;
const LEGAL = /(^|\/)(licen[cs]e|notice|copying|authors)[^/]*$/i;

/** Whether file `path`, relative to a package of which `isCompiled` says that it holds a native addon, belongs in a release. */
export function belongsInRelease(path: string, isCompiled: boolean): boolean {
  if (LEGAL.test(path)) return true;
  if (path.includes('node_modules/.bin/')) return false;
  if (FOR_TOOLS.test(path)) return false;
  if (isCompiled && BUILD_FOLDERS.test(path))
    return path.endsWith('.node') && !/(^|\/)(obj|obj\.target)\//.test(path) && !path.includes('test');
  return true;
}
