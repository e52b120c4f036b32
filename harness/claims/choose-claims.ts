// Claims by the ids a user gave. Pure.
import { EnvladderError } from '../contract/errors.js';
import type { Claim } from './claim.js';

/** All claims without ids; throws `bad-usage` for an id that is not there. In the order of the table of contents, each once. Capitals do not count. */
export function chooseClaims(given: readonly string[], all: readonly Claim[]): readonly Claim[] {
  const ids = given.map((id) => id.toLowerCase());
  if (ids.length === 0) return all;
  const unknown = ids.filter((id) => !all.some((claim) => claim.id === id));
  if (unknown.length > 0) {
    throw new EnvladderError(
      'bad-usage',
      `${unknown.join(', ')}: no such claim; claims are ${all.map(({ id }) => id).join(', ')} (--list says what they test)`,
    );
  }
  return all.filter(({ id }) => ids.includes(id));
}
