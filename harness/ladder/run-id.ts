// A run's id: sorts by start time, says which plan, and two runs of one second still differ. It names the folder under runs/.
import { randomBytes } from 'node:crypto';

/** 20261130-045512-default-1a2b (UTC). */
export function makeRunId(planName: string, now = new Date(), suffix = randomBytes(2).toString('hex')): string {
  const stamp = now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const name = planName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return `${stamp}-${name === '' ? 'run' : name}-${suffix}`;
}
