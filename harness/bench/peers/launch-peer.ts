// Starts the driver of a contender: Python with the contender's environment, or Node with envladder's own driver.
import { fileURLToPath } from 'node:url';
import { execArgvFor } from '../../supervisor/spawn.js';
import { driverPath } from './driver-path.js';
import type { FoundVenv } from './make-venv.js';
import { type PeerProcess, startPeer } from './peer-process.js';
import type { Contender } from './peer-rows.js';
import type { VenvName } from './peer-venvs.js';

/** Looks a Python environment up, made when it is first asked for. */
export type VenvOf = (name: VenvName) => FoundVenv;

export type Launched = { readonly peer: PeerProcess } | { readonly reason: string };

/** Starts it, or says why that cannot be. `more` is laid over the contender's spec (a seed). */
export function launchPeer({ label, venv, driver, spec, no }: Contender, venvOf: VenvOf, more: object = {}): Launched {
  if (no !== null) return { reason: no };
  const argument = JSON.stringify({ ...spec, ...more });
  if (driver === 'own') {
    const path = fileURLToPath(new URL(`./own-driver${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url));
    return { peer: startPeer({ label, command: process.execPath, args: [...execArgvFor(path), path, argument] }) };
  }
  const found = venv === null ? { reason: `${label} names no Python environment` } : venvOf(venv);
  if ('reason' in found) return found;
  return { peer: startPeer({ label, command: found.python, args: [driverPath(driver), argument] }) };
}
