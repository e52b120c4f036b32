// What a reader demands of its caller: blocks with the keys and the action of the first one, replacements with the same bytes, actions that
// fill their rows and are numbers.
import { EnvladderError } from '../contract/errors.js';
import type { BlockSpec, Segment } from './interface.js';
import { layoutBlock } from './layout.js';

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

/** Throws `bad-segment` when block `id` of `to` cannot stand in for that of `from`. */
export function checkSameLayout(from: Segment, to: Segment, id: number): void {
  const text = (segment: Segment) => {
    const spec = segment.spec.blocks.find((block) => block.id === id);
    return spec === undefined ? 'no such block' : JSON.stringify([spec, layoutBlock(spec, 0, segment.spec.worker)]);
  };
  if (text(from) === text(to)) return;
  throw new EnvladderError(
    'bad-segment',
    `block ${id} of worker ${to.spec.worker}'s segment is not laid out like the one it replaces. A replacement is made from the same spec`,
  );
}

/**
 * Throws for actions that do not fill `count` rows (a programmer error), and `contract` for one that is not finite, before any is stored:
 * an env would turn NaN into an observation that looks like the env's own fault.
 */
export function checkActions(spec: BlockSpec, count: number, rows: Int32Array, actions: Int32Array | Float32Array): void {
  const right = spec.action.dtype === 'i32' ? actions instanceof Int32Array : actions instanceof Float32Array;
  if (!right) throw new TypeError(`actions must be ${spec.action.dtype}, got ${actions.constructor.name}`);
  if (rows.length < count || actions.length < count * spec.action.length) {
    throw new RangeError(
      `${count} actions of ${spec.action.length} need as many rows and numbers, got ${rows.length} rows and ${actions.length} numbers`,
    );
  }
  if (actions instanceof Float32Array) checkFinite(actions, count, spec.action.length, rows);
}

function checkFinite(actions: Float32Array, count: number, length: number, rows: Int32Array): void {
  const end = count * length;
  // x - x is 0 for finite numbers and NaN for all others: one sum instead of a branch per element.
  let sum = 0;
  for (let i = 0; i < end; i++) sum += (actions[i] as number) - (actions[i] as number);
  if (sum === 0) return;
  const bad = actions.findIndex((value) => !Number.isFinite(value));
  const row = rows[Math.floor(bad / length)] as number;
  const element = bad % length;
  const value = String(actions[bad]);
  throw new EnvladderError(
    'contract',
    `action of row ${row}, element ${element} of ${length}, is ${value}; actions must be finite. The policy produced it, not the env: none of these ${count} actions was stored`,
    { detail: { row, element, value, source: 'policy' } },
  );
}
