// Child of error-tables.test.ts: maps the tables at fd 3 and adds errors. `cut N`: dies by SIGKILL inside the N-th error's cell. `flood`: adds
// errors of ever new kinds until it is killed.
import { errorTableBytes, openErrorTables } from '../../harness/memory/error-tables.js';
import { loadNative } from '../../native/index.js';

const [, , mode = '', argument = '0'] = process.argv;
const native = loadNative();
const buffer = new native.Mapping(3, 0, errorTableBytes(1)).takeBuffer();
let adds = 0;
const nowMs = () => {
  // The clock is asked when the cell is taken and not yet closed.
  if (mode === 'cut' && adds === Number(argument)) process.kill(process.pid, 'SIGKILL');
  return native.monotonicNs() / 1e6;
};
const tables = openErrorTables(buffer, 1, false, nowMs);

if (mode === 'cut') {
  while (++adds <= Number(argument)) {
    tables.add(0, { envId: 1, entry: 'cart', operation: 'step', message: adds < Number(argument) ? 'steady' : 'fatal', stack: '' });
  }
} else {
  for (let i = Number(argument) * 7919; ; i++) {
    const letters = Array.from({ length: 4 }, (_, digit) => String.fromCharCode(97 + (Math.floor(i / 26 ** digit) % 26))).join('');
    const stack = `    at ${letters} (/x.js:1:1)\n`.repeat(1 + (letters.charCodeAt(0) % 40));
    tables.add(0, { envId: i % 5000, entry: letters, operation: 'step', message: `Error: ${letters}`, stack });
  }
}
