// The size of a shared object that came as a descriptor: the first thing that is asked of it, before anything is mapped.
import { fstatSync } from 'node:fs';
import { EnvladderError } from '../contract/errors.js';

/** Bytes of the object behind `fd`. Throws `bad-segment` when the descriptor is not open in this process. */
export function sizeOfObject(fd: number, where: string): number {
  try {
    return fstatSync(fd).size;
  } catch (cause) {
    throw new EnvladderError(
      'bad-segment',
      `${where}: fd ${fd} is not open in this process; it is inherited through the stdio list of the spawn`,
      { cause },
    );
  }
}
