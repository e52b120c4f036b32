// A process that is the first to touch shared memory which another one made, when it is told to; says how far it came. What its control group
// is charged with, and whether it survives, is what the claim looks at. Ends with its parent.
import { loadNative } from '../../../native/index.js';

/** Where the memory is inherited. */
export const TOUCH_FD = 4;
const PAGE = 4096;

const native = loadNative();

process.on('disconnect', () => process.exit(0));
process.once('message', (bytes: number) => {
  const view = new Uint8Array(new native.Mapping(TOUCH_FD, 0, bytes).takeBuffer());
  for (let at = 0; at < bytes; at += PAGE) view[at] = 1;
  process.send?.({ touched: bytes });
});
process.send?.('up');
