// Observation and action spaces: declared once per env kind, validated once, then trusted by layout, checks and policies.
import { z } from 'zod';
import { DTYPE_BYTES, DTYPES, type Dtype } from './dtype.js';
import { EnvladderError } from './errors.js';

const dimension = z.number().int().positive('zero-size dimensions are refused');
// zod's own number refuses the infinities, which are honest bounds of a velocity.
const boundNumber = z.custom<number>((value) => typeof value === 'number' && !Number.isNaN(value), 'bounds are numbers, not NaN');
const bound = z.union([boundNumber, z.array(boundNumber)]);

export const boxSchema = z.strictObject({
  dtype: z.enum(DTYPES),
  /** [] is a scalar (one element). */
  shape: z.array(dimension),
  /** One number for all elements, or one per element in row-major order. Infinite bounds are allowed. */
  low: bound,
  high: bound,
});

export const actionSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('discrete'), n: z.number().int().positive() }),
  z.strictObject({ type: z.literal('multi-discrete'), nvec: z.array(z.number().int().positive()).min(1) }),
  z.strictObject({ type: z.literal('box'), shape: z.array(dimension), low: bound, high: bound }),
]);

export const spacesSchema = z.strictObject({
  observation: z
    .record(z.string().regex(/^[a-z][a-z0-9_]*$/, 'observation keys are lower-case words'), boxSchema)
    .refine((keys) => Object.keys(keys).length > 0, 'at least one observation key is needed'),
  action: actionSchema,
});

export type BoxSpace = z.infer<typeof boxSchema>;
export type ActionSpace = z.infer<typeof actionSchema>;
/** Key -> box. Key order is the order of declaration and is part of the signature. */
export type ObservationSpace = Readonly<Record<string, BoxSpace>>;
export interface Spaces {
  readonly observation: ObservationSpace;
  readonly action: ActionSpace;
}

/** Number of elements of a shape; a scalar shape [] has one. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Bytes of one cell of a box. */
export function boxBytes(box: BoxSpace): number {
  return elementCount(box.shape) * DTYPE_BYTES[box.dtype];
}

/** Shape of one action in shared memory: discrete kinds are i32, box actions f32. */
export function actionElements(action: ActionSpace): { dtype: Dtype; length: number } {
  switch (action.type) {
    case 'discrete':
      return { dtype: 'i32', length: 1 };
    case 'multi-discrete':
      return { dtype: 'i32', length: action.nvec.length };
    case 'box':
      return { dtype: 'f32', length: elementCount(action.shape) };
  }
}

/**
 * Checks a declared pair of spaces. Throws `bad-space` naming the kind, the key and the rule broken:
 * zero-size shapes, unknown dtypes, per-element bounds of the wrong length, low above high, NaN bounds.
 */
export function parseSpaces(kind: string, declared: unknown): Spaces {
  const parsed = spacesSchema.safeParse(declared);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new EnvladderError(
      'bad-space',
      `env kind '${kind}': spaces.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a pair of spaces'}`,
      { detail: { kind, path: issue?.path } },
    );
  }
  for (const [key, box] of Object.entries(parsed.data.observation)) checkBounds(kind, key, box);
  if (parsed.data.action.type === 'box') checkBounds(kind, 'action', parsed.data.action);
  return parsed.data;
}

function checkBounds(kind: string, key: string, box: Pick<BoxSpace, 'shape' | 'low' | 'high'>): void {
  const count = elementCount(box.shape);
  for (const side of ['low', 'high'] as const) {
    const value = box[side];
    if (Array.isArray(value) && value.length !== count) {
      throw new EnvladderError(
        'bad-space',
        `env kind '${kind}', key '${key}': ${side} has ${value.length} numbers, the shape needs ${count}`,
        { detail: { kind, key } },
      );
    }
  }
  for (let i = 0; i < (Array.isArray(box.low) || Array.isArray(box.high) ? count : 1); i++) {
    if (!(boundAt(box.low, i) <= boundAt(box.high, i))) {
      throw new EnvladderError(
        'bad-space',
        `env kind '${kind}', key '${key}': low ${boundAt(box.low, i)} is not below or equal to high ${boundAt(box.high, i)} (element ${i})`,
        { detail: { kind, key } },
      );
    }
  }
}

/** The bound of element `index`, for scalar and per-element bounds alike. */
export function boundAt(bound: number | readonly number[], index: number): number {
  return typeof bound === 'number' ? bound : (bound[index] ?? Number.NaN);
}

/** Canonical text of a pair of spaces: equal text = same policy can serve both kinds. Bounds of observations are left out. */
export function spaceSignature(spaces: Spaces): string {
  const keys = Object.entries(spaces.observation).map(([key, box]) => `${key}:${box.dtype}[${box.shape.join(',')}]`);
  return `${keys.join(';')}|${JSON.stringify(spaces.action)}`;
}
