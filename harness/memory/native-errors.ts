// Turns what the addon throws into the errors of envladder, and the addon's absence into `native-missing`.
import { loadNative, type NativeAddon } from '../../native/index.js';
import { EnvladderError, type ErrorCode } from '../contract/errors.js';

/** The addon. Throws `native-missing` with the way to build it. */
export function requireNative(): NativeAddon {
  return translated('', () => loadNative());
}

/** Runs `call`; an error of the addon with a known code becomes an EnvladderError, with `where` in front. */
export function translated<T>(where: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (error instanceof Error && !(error instanceof EnvladderError) && (code === 'native-missing' || code === 'out-of-memory')) {
      throw new EnvladderError(code satisfies ErrorCode, where === '' ? error.message : `${where}: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** The error of a writer whose slots belong to another epoch: the process that gets it must exit. */
export function fencedError(worker: number, block: number, epoch: number): EnvladderError {
  return new EnvladderError(
    'worker-died',
    `worker ${worker}, block ${block}: epoch ${epoch} was fenced; another epoch owns its slots and this process must exit`,
    { detail: { fenced: true, worker, block, epoch } },
  );
}
