// What rows need of the machine, as reasons to skip them: looked at before anything is started.
import { spawnSync } from 'node:child_process';

/** Null when the command is there and may do that here. Results are kept: a machine does not change between two rows. */
export function commandProblem(command: string, args: readonly string[]): string | null {
  const key = [command, ...args].join(' ');
  const known = answers.get(key);
  if (known !== undefined) return known;
  const { status, error } = spawnSync(command, args, { stdio: 'ignore', timeout: 5000 });
  const problem = error !== undefined ? `${command} is not on PATH` : status === 0 ? null : `${key} is not permitted here`;
  answers.set(key, problem);
  return problem;
}

const answers = new Map<string, string | null>();
