// Which columns a policy sees: turns an observation space and the chosen encoder into the native reader's output matrices. Pure. The
// same plan is used with and without a learner, so that a measurement without one moves the same bytes.
import type { Dtype } from '../contract/dtype.js';
import { EnvladderError } from '../contract/errors.js';
import type { PpoConfig } from '../contract/ppo-config.js';
import { type BoxSpace, elementCount, type ObservationSpace } from '../contract/spaces.js';
import type { OutputPart, OutputSpec } from '../memory/reader-options.js';

/** Side of a pooled image: 224 / 16; what the native reader's `pool` transform makes. */
export const POOL_SIDE = 14;

/** One matrix of a rollout: `columns` values per observation. `image` planes keep their shape for convolutions. */
export interface ObservationPlane {
  readonly name: string;
  readonly dtype: Extract<Dtype, 'f32' | 'u8'>;
  readonly columns: number;
  readonly image: readonly [height: number, width: number, channels: number] | null;
}

export interface ObservationPlan {
  readonly encoder: 'mlp' | 'pool' | 'cnn';
  readonly planes: readonly ObservationPlane[];
  readonly outputs: readonly OutputSpec[];
}

const isImage = (box: BoxSpace): boolean => box.dtype === 'u8' && box.shape.length === 3;

const isPoolable = (box: BoxSpace): boolean => {
  const [height = 0, width = 0] = box.shape;
  return isImage(box) && height > POOL_SIDE && width > POOL_SIDE && height % POOL_SIDE === 0 && width % POOL_SIDE === 0;
};

/**
 * Chooses the encoder and lays out its columns: key order, u8 scaled to 0..1, the rest raw. `auto` pools images whose sides are multiples
 * of 14 and flattens the rest. Throws `bad-plan` when `pool` or `cnn` is forced and there is nothing to pool or convolve.
 */
export function planObservation(space: ObservationSpace, encoder: PpoConfig['encoder']): ObservationPlan {
  const boxes = Object.entries(space);
  const chosen = encoder === 'auto' ? (boxes.some(([, box]) => isPoolable(box)) ? 'pool' : 'mlp') : encoder;
  const needed = chosen === 'pool' ? isPoolable : isImage;
  if (chosen !== 'mlp' && !boxes.some(([, box]) => needed(box))) {
    const keys = boxes.map(([key, box]) => `${key} ${box.dtype}[${box.shape.join(',')}]`).join(', ');
    const what = chosen === 'pool' ? 'u8 [h,w,c] key whose sides are multiples of 14' : 'u8 [h,w,c] key';
    throw new EnvladderError('bad-plan', `ppo.encoder '${chosen}' needs a ${what}; the space has ${keys}. Use 'auto'`);
  }
  const parts: OutputPart[] = [];
  const planes: ObservationPlane[] = [];
  const outputs: OutputSpec[] = [];
  let columns = 0;
  for (const [key, box] of boxes) {
    if (chosen === 'cnn' && isImage(box)) {
      const [height = 0, width = 0, channels = 0] = box.shape;
      const name = `image_${key}`;
      planes.push({ name, dtype: 'u8', columns: height * width * channels, image: [height, width, channels] });
      outputs.push({ name, raw: key });
      continue;
    }
    const pooled = chosen === 'pool' && isPoolable(box);
    columns += pooled ? POOL_SIDE * POOL_SIDE * (box.shape[2] as number) : elementCount(box.shape);
    parts.push({ key, transform: pooled ? 'pool' : 'float', scale: box.dtype === 'u8' ? 1 / 255 : 1, offset: 0 });
  }
  if (parts.length > 0) {
    planes.unshift({ name: 'flat', dtype: 'f32', columns, image: null });
    outputs.unshift({ name: 'flat', parts });
  }
  return { encoder: chosen, planes, outputs };
}
