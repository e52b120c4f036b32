// Where the Python drivers of the peers lie: among the sources, also when the program runs from dist, which holds no Python.
import { join } from 'node:path';
import { packageRoot } from '../../ladder/package-root.js';

/** Absolute path of `harness/bench/peers/drivers/<name>`. */
export function driverPath(name: string): string {
  return join(packageRoot(), 'harness', 'bench', 'peers', 'drivers', name);
}
