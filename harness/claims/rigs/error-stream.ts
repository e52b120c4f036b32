// The errors that a claim about logs feeds to every side: the same ones from the same seed. Three kinds make up 92 % of them, as the account
// has it, and forty others the rest. Pure.
import { seededRandom } from '../../chaos/seeded-random.js';
import type { ErrorRecord } from '../../contract/error-record.js';

export const FREQUENT_SHARE = 0.92;
export const FREQUENT_KINDS = 3;
export const OTHER_KINDS = 40;
const ENVS = 7000;

const WORDS = ['physics diverged', 'asset is missing', 'socket was reset', 'observation is out of range', 'bridge gave no answer'] as const;
const FRAMES = 10;

/** Kinds differ in words and in frames, as real ones do; numbers differ from one error to the next. */
function kindName(kind: number): string {
  return `${WORDS[kind % WORDS.length]} ${String.fromCharCode(97 + (kind % 26))}${String.fromCharCode(97 + Math.floor(kind / 26))}`;
}

function stackOf(kind: number): string {
  return Array.from(
    { length: FRAMES },
    (_, depth) => `    at step${kind}x${depth} (simulator/part-${kind}.js:${100 + depth}:${7 + depth})`,
  ).join('\n');
}

/** The n-th call gives the n-th error of the stream. */
export function errorStream(seed: number): () => ErrorRecord {
  const random = seededRandom(seed, 87);
  const stacks = Array.from({ length: FREQUENT_KINDS + OTHER_KINDS }, (_, kind) => stackOf(kind));
  return () => {
    const frequent = random() < FREQUENT_SHARE;
    const kind = frequent ? Math.floor(random() * FREQUENT_KINDS) : FREQUENT_KINDS + Math.floor(random() * OTHER_KINDS);
    const envId = Math.floor(random() * ENVS);
    const message = `SimulationError: ${kindName(kind)} at ${(random() * 100).toFixed(3)} of env ${envId}`;
    return { envId, entry: 'simulator', operation: 'step', message, stack: `${message}\n${stacks[kind]}` };
  };
}
