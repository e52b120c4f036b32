// An unset shell variable must not turn the current folder into a run folder, a checkpoint or a module. Pure.
import { EnvladderError } from '../contract/errors.js';

/** Throws `bad-usage` when the flag was given with nothing in it. `remedy` continues "names no WHAT; ". */
export function refuseEmpty(flag: string, value: string | undefined, what: string, remedy: string): void {
  if (value?.trim() !== '') return;
  throw new EnvladderError('bad-usage', `${flag}: '${value}' names no ${what}; ${remedy}`);
}
