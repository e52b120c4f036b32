// A worker that has errors, minute by minute, and is then killed by SIGKILL in the middle of one: it does that to itself, so that the number
// of errors it had is known exactly. Keeps them in one of three ways.
import { closeSync, openSync, writeSync } from 'node:fs';
import type { ErrorRecord } from '../../contract/error-record.js';
import { fingerprintOf } from '../../memory/error-fingerprint.js';
import { createNativeMemory } from '../../memory/native-memory.js';
import { errorStream } from '../rigs/error-stream.js';
import { type ErrorOrder, RING_ENTRY_BYTES, TABLES_FD } from '../rigs/error-words.js';

interface Keeper {
  keep(error: ErrorRecord): void;
  /** A minute is over. */
  flush(): void;
}

function fileLog(file: string): Keeper {
  const fd = openSync(file, 'a');
  return {
    keep: ({ envId, operation, message, stack }) => {
      writeSync(fd, `${JSON.stringify({ time: Date.now(), level: 'error', env: envId, operation, message, stack })}\n`);
    },
    flush: () => undefined,
  };
}

/** Room for the errors of a minute; what comes beyond it overwrites the oldest. */
function ring(file: string, entries: number): Keeper {
  const bytes = Buffer.alloc(entries * RING_ENTRY_BYTES);
  let added = 0;
  return {
    keep(error) {
      const at = (added % entries) * RING_ENTRY_BYTES;
      bytes.write(fingerprintOf(error), at, 'hex');
      bytes.writeUInt32LE(error.envId, at + 8);
      bytes.writeUInt32LE(Math.floor(performance.now()), at + 12);
      bytes.writeUInt32LE(added++, at + 16);
    },
    flush() {
      const fd = openSync(file, 'a');
      writeSync(fd, bytes, 0, Math.min(added, entries) * RING_ENTRY_BYTES);
      closeSync(fd);
      added = 0;
    },
  };
}

function tables(): Keeper {
  const errors = createNativeMemory().attachErrors(1, TABLES_FD);
  return { keep: (error) => errors.add(0, error), flush: () => undefined };
}

function begin(order: ErrorOrder): void {
  const { side, seed, file, perMinute, minutes, last } = order;
  const next = errorStream(seed);
  const keeper = side === 'file-log' ? fileLog(file) : side === 'ring' ? ring(file, perMinute) : tables();
  let minute = 0;
  const live = (): void => {
    const dying = minute++ === minutes;
    for (let i = 0; i < (dying ? last : perMinute); i++) keeper.keep(next());
    if (dying) process.kill(process.pid, 'SIGKILL');
    keeper.flush();
    process.send?.('minute');
  };
  process.on('message', live);
  live();
}

process.on('disconnect', () => process.exit(0));
process.once('message', begin);
