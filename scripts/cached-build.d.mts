/** An operating error with its exit code: 75 says that this machine lacks something. */
export class SetupError extends Error {
  constructor(message: string, exitCode?: number);
  readonly exitCode: number;
}
export function buildOnce(name: string, neededBytes: number, build: (work: string) => Promise<void>): Promise<string>;
