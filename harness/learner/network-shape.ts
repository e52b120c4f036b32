// The networks of one policy as a list of named parameters: an actor and a critic tower with nothing in common, and the head's free
// parameters. Pure; initial weights come from the given generator, so that a seed decides them.
import { EnvladderError } from '../contract/errors.js';
import type { ObservationPlane } from './observation-plan.js';
import type { Shuffler } from './shuffler.js';

export interface Parameter {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export interface NetworkShape {
  readonly planes: readonly ObservationPlane[];
  readonly hidden: readonly number[];
  readonly activation: 'relu' | 'tanh';
  /** Outputs of the actor. */
  readonly outputs: number;
  readonly freeParameters: number;
}

/** Filters, kernel and stride of the three convolutions of Mnih et al. 2015 ("Nature CNN"), valid padding. */
export const CONVOLUTIONS = [
  { filters: 32, kernel: 8, stride: 4 },
  { filters: 64, kernel: 4, stride: 2 },
  { filters: 64, kernel: 3, stride: 1 },
] as const;

/** Orthogonalising costs rows x columns^2; beyond this many operations a scaled normal does (about a second of start-up). */
const MAX_ORTHOGONAL_OPERATIONS = 1e8;

/** A matrix with orthonormal rows or columns times `gain` (Saxe et al. 2014), by modified Gram-Schmidt on the longer side. */
function orthogonal(rows: number, columns: number, gain: number, random: Shuffler): Float32Array {
  const vectors = Math.min(rows, columns);
  const length = Math.max(rows, columns);
  const data = Float32Array.from({ length: rows * columns }, () => random.normal());
  if (length * vectors * vectors > MAX_ORTHOGONAL_OPERATIONS) {
    for (let i = 0; i < data.length; i++) data[i] = ((data[i] as number) * gain) / Math.sqrt(rows);
    return data;
  }
  const basis: Float64Array[] = [];
  for (let v = 0; v < vectors; v++) {
    const vector = Float64Array.from({ length }, (_, i) => data[v * length + i] as number);
    for (const other of basis) {
      let dot = 0;
      for (let i = 0; i < length; i++) dot += (vector[i] as number) * (other[i] as number);
      for (let i = 0; i < length; i++) vector[i] = (vector[i] as number) - dot * (other[i] as number);
    }
    let squares = 0;
    for (let i = 0; i < length; i++) squares += (vector[i] as number) ** 2;
    const norm = Math.sqrt(squares);
    for (let i = 0; i < length; i++) vector[i] = (vector[i] as number) / norm;
    basis.push(vector);
  }
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      const value = rows >= columns ? basis[c]?.[r] : basis[r]?.[c];
      data[r * columns + c] = gain * (value as number);
    }
  }
  return data;
}

/** Columns that reach the first dense layer; throws `bad-plan` for an image that the convolutions shrink to nothing. */
function denseInputs(planes: readonly ObservationPlane[]): number {
  let inputs = 0;
  for (const plane of planes) {
    if (plane.image === null) {
      inputs += plane.columns;
      continue;
    }
    let [height, width] = plane.image as readonly [number, number, number];
    for (const { kernel, stride } of CONVOLUTIONS) {
      height = Math.floor((height - kernel) / stride) + 1;
      width = Math.floor((width - kernel) / stride) + 1;
    }
    if (height < 1 || width < 1) {
      throw new EnvladderError(
        'bad-plan',
        `ppo.encoder 'cnn': '${plane.name}' is smaller than 36 x 36, too small for the convolutions. Use 'mlp'`,
      );
    }
    inputs += height * width * CONVOLUTIONS[2].filters;
  }
  return inputs;
}

function towerParameters(tower: string, shape: NetworkShape, outputs: number, finalGain: number, random: Shuffler): Parameter[] {
  const parameters: Parameter[] = [];
  const add = (name: string, shape: readonly number[], gain: number): void => {
    const columns = shape.at(-1) as number;
    const rows = shape.slice(0, -1).reduce((product, size) => product * size, 1);
    parameters.push({ name: `${tower}/${name}/kernel`, shape, data: orthogonal(rows, columns, gain, random) });
    parameters.push({ name: `${tower}/${name}/bias`, shape: [columns], data: new Float32Array(columns) });
  };
  for (const plane of shape.planes) {
    if (plane.image === null) continue;
    let channels: number = plane.image[2];
    CONVOLUTIONS.forEach(({ filters, kernel }, i) => {
      add(`${plane.name}/conv${i}`, [kernel, kernel, channels, filters], Math.SQRT2);
      channels = filters;
    });
  }
  let inputs = denseInputs(shape.planes);
  shape.hidden.forEach((width, i) => {
    add(`dense${i}`, [inputs, width], Math.SQRT2);
    inputs = width;
  });
  add('out', [inputs, outputs], finalGain);
  return parameters;
}

/** Actor, critic and free parameters, in this order; gains as in the PPO baselines (0.01 for the policy, 1 for the value). */
export function initialParameters(shape: NetworkShape, random: Shuffler): Parameter[] {
  return [
    ...towerParameters('actor', shape, shape.outputs, 0.01, random),
    ...towerParameters('critic', shape, 1, 1, random),
    ...(shape.freeParameters === 0
      ? []
      : [{ name: 'actor/log_std', shape: [shape.freeParameters], data: new Float32Array(shape.freeParameters) }]),
  ];
}
