// Makes the middle of an `up` last until a test says otherwise: somebody else holds a concern's lock on the host, so its script has started,
// waits, and the CLI waits for it. Nothing is timed: the test polls until the script is there.
import type { Machine } from './machine.js';

const unitOf = (concern: string): string => `rig-test-holds-${concern}`;

export async function holdConcern(machine: Machine, concern: string): Promise<void> {
  await machine.sh(`systemd-run --quiet --unit=${unitOf(concern)} flock /run/lock/envladder-rig-${concern}.lock sleep infinity`);
}

export async function releaseConcern(machine: Machine, concern: string): Promise<void> {
  await machine.sh(`systemctl stop ${unitOf(concern)}`);
}

/** Waits until the concern's script waits for its lock. The bound only catches what never comes. */
export async function untilConcernWaits(machine: Machine, concern: string): Promise<void> {
  await machine.sh(
    `for i in $(seq 1200); do pgrep -f '[f]lock -w [0-9]* 9' >/dev/null && exit 0; sleep 0.25; done; echo "${concern} never came" >&2; exit 1`,
  );
}
