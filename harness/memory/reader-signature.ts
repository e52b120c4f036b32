// What blocks must have in common to be read into the same batches: the keys that outputs read, and the action.
import { EnvladderError } from '../contract/errors.js';
import type { BlockSpec } from './interface.js';

/** Throws `bad-plan` when `added` cannot share batches with `first`. */
export function checkSameSignature(first: BlockSpec, added: BlockSpec): void {
  const text = (block: BlockSpec) =>
    `${block.keys.map((k) => `${k.key}:${k.dtype}[${k.shape.join(',')}]`).join(';')}|${block.action.dtype}x${block.action.length}`;
  if (text(first) === text(added)) return;
  throw new EnvladderError(
    'bad-plan',
    `block ${added.id} (kind '${added.kind}') has spaces ${text(added)}, this reader serves ${text(first)}. Give each space signature its own reader`,
  );
}

/** Throws for actions that do not fill `count` rows. A programmer error. */
export function checkActions(spec: BlockSpec, count: number, rows: Int32Array, actions: Int32Array | Float32Array): void {
  const right = spec.action.dtype === 'i32' ? actions instanceof Int32Array : actions instanceof Float32Array;
  if (!right) throw new TypeError(`actions must be ${spec.action.dtype}, got ${actions.constructor.name}`);
  if (rows.length < count || actions.length < count * spec.action.length) {
    throw new RangeError(
      `${count} actions of ${spec.action.length} need as many rows and numbers, got ${rows.length} rows and ${actions.length} numbers`,
    );
  }
}
