// TFRecord framing: what an event file is made of. Each record is
//   length u64 LE | masked CRC-32C of the length u32 LE | data | masked CRC-32C of the data u32 LE
// Pure.
import { maskedCrc32c } from './crc32c.js';

const HEADER_BYTES = 12;
const FOOTER_BYTES = 4;

export function frameRecord(data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + data.length + FOOTER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, maskedCrc32c(bytes.subarray(0, 8)), true);
  bytes.set(data, HEADER_BYTES);
  view.setUint32(HEADER_BYTES + data.length, maskedCrc32c(data), true);
  return bytes;
}
