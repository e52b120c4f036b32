// What `field` shows of its state: the picture `rgb`, and the numbers `state` and `vector` (docs/kinds/field.md lists every element).
// Each frame is written whole: ring cells alternate, so nothing of the frame before may be relied on.
import { AGENT_HALF_PX, EPISODE_STEPS, FIELD_PX, MAX_SPEED_PX, nearestTarget, ROW, TARGET_HALF_PX, TARGETS } from './field-state.js';

export const RGB_BYTES = FIELD_PX * FIELD_PX * 3;
export const STATE_FLOATS = 128;
export const VECTOR_FLOATS = 64;

const GRID_PX = 28;
const GROUND = [24, 28, 36] as const;
const GRID = [36, 42, 54] as const;
const AGENT = [240, 240, 240] as const;
const TARGET_COLOURS = [
  [230, 80, 70],
  [90, 200, 90],
  [80, 140, 240],
  [240, 190, 60],
] as const;
const DIAGONAL_PX = FIELD_PX * Math.SQRT2;

const background = (() => {
  const bytes = new Uint8Array(RGB_BYTES);
  for (let y = 0; y < FIELD_PX; y++) {
    for (let x = 0; x < FIELD_PX; x++) {
      bytes.set(x % GRID_PX === 0 || y % GRID_PX === 0 ? GRID : GROUND, (y * FIELD_PX + x) * 3);
    }
  }
  return bytes;
})();

/** One row of a square of `side` pixels in a colour: drawn by copying it row after row. */
function brush(side: number, colour: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: side * 3 }, (_, j) => colour[j % 3] as number);
}
const agentBrush = brush(2 * AGENT_HALF_PX, AGENT);
const targetBrushes = TARGET_COLOURS.map((colour) => brush(2 * TARGET_HALF_PX, colour));

function drawSquare(rgb: Uint8Array, out: number, centreX: number, centreY: number, half: number, row: Uint8Array): void {
  const left = Math.round(centreX) - half;
  const top = Math.round(centreY) - half;
  let at = out + (top * FIELD_PX + left) * 3;
  for (let y = 0; y < 2 * half; y++) {
    // A plain loop: for 36 bytes it beats the call of TypedArray.set.
    for (let j = 0; j < row.length; j++) rgb[at + j] = row[j] as number;
    at += FIELD_PX * 3;
  }
}

/** Draws the frame at `rgb[out..]`. */
export function drawField(s: Float64Array, at: number, rgb: Uint8Array, out: number): void {
  rgb.set(background, out);
  for (let k = 0; k < TARGETS; k++) {
    const x = s[at + ROW.targets + 2 * k] as number;
    const y = s[at + ROW.targets + 2 * k + 1] as number;
    drawSquare(rgb, out, x, y, TARGET_HALF_PX, targetBrushes[k] as Uint8Array);
  }
  drawSquare(rgb, out, s[at + ROW.x] as number, s[at + ROW.y] as number, AGENT_HALF_PX, agentBrush);
}

/** Pixels to [-1, 1]. */
const place = (px: number): number => (2 * px) / FIELD_PX - 1;

const WALLS = 30;
const SECTORS = 34;
const SECTOR_COUNT = 16;
const MAP = 50;
const MAP_SIDE = 8;

/** Writes `state` at `state[out..]`. */
export function describeState(s: Float64Array, at: number, state: Float32Array, out: number): void {
  const x = s[at + ROW.x] as number;
  const y = s[at + ROW.y] as number;
  const nearest = nearestTarget(s, at);
  state.fill(0, out, out + STATE_FLOATS);
  state[out] = place(x);
  state[out + 1] = place(y);
  state[out + 2] = (s[at + ROW.vx] as number) / MAX_SPEED_PX;
  state[out + 3] = (s[at + ROW.vy] as number) / MAX_SPEED_PX;
  state[out + 4] = Math.min(1, (s[at + ROW.steps] as number) / EPISODE_STEPS);
  state[out + 5] = Math.min(1, (s[at + ROW.caught] as number) / 16);
  for (let k = 0; k < TARGETS; k++) {
    const targetX = s[at + ROW.targets + 2 * k] as number;
    const targetY = s[at + ROW.targets + 2 * k + 1] as number;
    const dx = targetX - x;
    const dy = targetY - y;
    const distance = Math.sqrt(dx * dx + dy * dy);
    const o = out + 6 + 6 * k;
    state[o] = dx / FIELD_PX;
    state[o + 1] = dy / FIELD_PX;
    state[o + 2] = distance / DIAGONAL_PX;
    state[o + 3] = distance > 0 ? dx / distance : 0;
    state[o + 4] = distance > 0 ? dy / distance : 0;
    state[o + 5] = k === nearest ? 1 : 0;
    const sector = out + SECTORS + (Math.floor(((Math.atan2(dy, dx) + Math.PI) / (2 * Math.PI)) * SECTOR_COUNT) % SECTOR_COUNT);
    state[sector] = Math.max(state[sector] as number, 1 - distance / DIAGONAL_PX);
    const cellX = Math.min(MAP_SIDE - 1, Math.floor((targetX * MAP_SIDE) / FIELD_PX));
    const cellY = Math.min(MAP_SIDE - 1, Math.floor((targetY * MAP_SIDE) / FIELD_PX));
    const cell = out + MAP + cellY * MAP_SIDE + cellX;
    state[cell] = (state[cell] as number) + 1 / TARGETS;
  }
  state[out + WALLS] = x / FIELD_PX;
  state[out + WALLS + 1] = 1 - x / FIELD_PX;
  state[out + WALLS + 2] = y / FIELD_PX;
  state[out + WALLS + 3] = 1 - y / FIELD_PX;
}

/** Writes `vector` at `vector[out..]`: the little that a small policy needs. */
export function describeVector(s: Float64Array, at: number, vector: Float32Array, out: number): void {
  const x = s[at + ROW.x] as number;
  const y = s[at + ROW.y] as number;
  const nearest = nearestTarget(s, at);
  const dx = (s[at + ROW.targets + 2 * nearest] as number) - x;
  const dy = (s[at + ROW.targets + 2 * nearest + 1] as number) - y;
  const distance = Math.sqrt(dx * dx + dy * dy);
  vector.fill(0, out, out + VECTOR_FLOATS);
  vector[out] = place(x);
  vector[out + 1] = place(y);
  vector[out + 2] = (s[at + ROW.vx] as number) / MAX_SPEED_PX;
  vector[out + 3] = (s[at + ROW.vy] as number) / MAX_SPEED_PX;
  vector[out + 4] = dx / FIELD_PX;
  vector[out + 5] = dy / FIELD_PX;
  vector[out + 6] = distance / DIAGONAL_PX;
  vector[out + 7] = distance > 0 ? dx / distance : 0;
  vector[out + 8] = distance > 0 ? dy / distance : 0;
  vector[out + 9] = Math.max(0, 1 - (s[at + ROW.steps] as number) / EPISODE_STEPS);
  vector[out + 10 + (s[at + ROW.action] as number)] = 1;
}
