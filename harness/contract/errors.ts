// The one error class of envladder. A code from a closed union decides the exit code; the message says
// what, where, the limit and what to do. Programmer errors use assert instead and end as exit code 1.
import { EXIT, type ExitCode } from './exit-codes.js';

/** Every operating error that envladder can report, and the exit code a command ends with when it is the cause. */
export const ERROR_EXIT = {
  'bad-usage': EXIT.usage,
  'bad-plan': EXIT.usage,
  'bad-space': EXIT.usage,
  'bad-kind': EXIT.usage,
  'bad-module': EXIT.usage,
  'bad-record': EXIT.usage,
  'bad-checkpoint': EXIT.usage,
  'run-folder': EXIT.usage,
  'backend-missing': EXIT.usage,
  preflight: EXIT.preflight,
  'out-of-memory': EXIT.preflight,
  'native-missing': EXIT.preflight,
  'bad-segment': EXIT.invalid,
  contract: EXIT.invalid,
  'env-failed': EXIT.invalid,
  'worker-died': EXIT.invalid,
  'learner-died': EXIT.invalid,
  unbalanced: EXIT.invalid,
  'record-lost': EXIT.invalid,
} as const satisfies Record<string, ExitCode>;

export type ErrorCode = keyof typeof ERROR_EXIT;

export class EnvladderError extends Error {
  readonly code: ErrorCode;
  /** Machine-readable particulars (env id, kind, key, value, limit...), kept in events and records. */
  readonly detail: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; detail?: Record<string, unknown> } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EnvladderError';
    this.code = code;
    this.detail = options.detail ?? {};
  }
}

/** Exit code for any thrown value: an operating error knows its own, everything else is a bug. */
export function exitCodeFor(error: unknown): ExitCode {
  return error instanceof EnvladderError ? ERROR_EXIT[error.code] : EXIT.bug;
}
