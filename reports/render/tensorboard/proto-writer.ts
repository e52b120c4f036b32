// Just enough of the protobuf wire format to write an Event: varints, doubles, floats, strings, nested messages, packed doubles. A message
// is a list of its fields' bytes; proto3 defaults are written too where a field is given. Pure.

type Bytes = Uint8Array;

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const utf8 = new TextEncoder();

/** Base 128, least group first. int64 fields take whole numbers up to 2^53 here; negative ones do not occur. */
function varint(value: number): Bytes {
  const bytes: number[] = [];
  let rest = Math.max(0, Math.trunc(value));
  while (rest > 0x7f) {
    bytes.push((rest % 128) | 0x80);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

export function joinBytes(parts: readonly Bytes[]): Bytes {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function key(field: number, wire: number): Bytes {
  return varint(field * 8 + wire);
}

export function int64Field(field: number, value: number): Bytes {
  return joinBytes([key(field, WIRE.varint), varint(value)]);
}

export function doubleField(field: number, value: number): Bytes {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return joinBytes([key(field, WIRE.fixed64), bytes]);
}

export function floatField(field: number, value: number): Bytes {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value, true);
  return joinBytes([key(field, WIRE.fixed32), bytes]);
}

/** A nested message. */
export function bytesField(field: number, bytes: Bytes): Bytes {
  return joinBytes([key(field, WIRE.bytes), varint(bytes.length), bytes]);
}

export function stringField(field: number, text: string): Bytes {
  return bytesField(field, utf8.encode(text));
}

export function packedDoublesField(field: number, values: readonly number[]): Bytes {
  const bytes = new Uint8Array(8 * values.length);
  const view = new DataView(bytes.buffer);
  for (const [i, value] of values.entries()) view.setFloat64(8 * i, value, true);
  return bytesField(field, bytes);
}
