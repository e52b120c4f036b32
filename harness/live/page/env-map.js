// The map: one cell per planned env, in the order of env ids. State shows as colour and as shape, so that it can be told without colour;
// pointer and arrow keys name a cell; the envs that are in trouble stand below as text.
import { count } from './format.js';

export const STATES = ['not started', 'live', 'restarted', 'slow', 'quarantined', 'lost'];
const TROUBLE = [3, 4, 5];
const MAX_LISTED = 40;
/** The map is about this high; cells shrink for it, down to a pixel. */
const TARGET_HEIGHT = 330;
const LARGEST_CELL = 14;

/** Undoes run lengths. */
function unpack(runs, total) {
  const states = new Uint8Array(total);
  for (let i = 0, at = 0; i < runs.length; at += runs[i + 1], i += 2) states.fill(runs[i], at, at + runs[i + 1]);
  return states;
}

function paintCell(context, state, x, y, size, colours) {
  const gap = size >= 4 ? 1 : 0;
  const side = size - gap;
  context.fillStyle = colours[state];
  if (size < 5) context.fillRect(x, y, side, side);
  else if (state === 0) context.fillRect(x + side / 2 - 1, y + side / 2 - 1, 2, 2);
  else if (state === 3) context.fillRect(x, y + Math.floor(side / 2), side, Math.ceil(side / 2));
  else if (state === 5) {
    context.fillRect(x, y, side, 1);
    context.fillRect(x, y + side - 1, side, 1);
    context.fillRect(x, y, 1, side);
    context.fillRect(x + side - 1, y, 1, side);
  } else {
    context.fillRect(x, y, side, side);
    if (state === 2) context.clearRect(x + side - Math.ceil(side / 3), y, Math.ceil(side / 3), Math.ceil(side / 3));
    if (state === 4) context.clearRect(x + Math.floor(side / 2), y + 1, 1, side - 2);
  }
}

/** `parts`: {canvas, legend, said, trouble} elements. Returns draw(runs, counts, head). */
export function createEnvMap({ canvas, legend, said, trouble }) {
  let states = new Uint8Array(0);
  let ranges = [];
  let columns = 1;
  let cell = 1;
  let cursor = 0;

  const values = STATES.map((name, state) => {
    const item = document.createElement('li');
    const key = document.createElement('span');
    key.className = `key state-${state}`;
    const value = document.createElement('b');
    const label = document.createElement('span');
    label.textContent = name;
    item.append(key, label, value);
    legend.append(item);
    return value;
  });

  const rangeOf = (env) => ranges.find(({ first, count: size }) => env >= first && env < first + size);
  function name(env) {
    const range = rangeOf(env);
    return `env ${env}${range === undefined ? '' : `, ${range.entry}, worker ${range.worker}`}: ${STATES[states[env]] ?? 'unknown'}`;
  }
  function point(env) {
    if (states.length === 0) return;
    cursor = Math.min(states.length - 1, Math.max(0, env));
    said.textContent = name(cursor);
  }

  function paint() {
    const width = Math.max(1, canvas.clientWidth);
    cell = Math.min(LARGEST_CELL, Math.max(1, Math.floor(Math.sqrt((width * TARGET_HEIGHT) / Math.max(1, states.length)))));
    columns = Math.max(1, Math.floor(width / cell));
    const height = Math.max(1, Math.ceil(states.length / columns)) * cell;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d');
    context.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const colours = STATES.map((_, state) => style.getPropertyValue(`--state-${state}`).trim());
    for (let env = 0; env < states.length; env++)
      paintCell(context, states[env], (env % columns) * cell, Math.floor(env / columns) * cell, cell, colours);
    Object.assign(canvas.dataset, { cells: states.length, columns, cell });
  }

  function listTrouble() {
    const lines = [];
    let left = 0;
    for (let from = 0, to = 1; from < states.length; from = to, to = from + 1) {
      while (to < states.length && states[to] === states[from]) to++;
      if (!TROUBLE.includes(states[from])) continue;
      if (lines.length < MAX_LISTED) lines.push(to - from === 1 ? name(from) : `envs ${from} to ${to - 1}: ${STATES[states[from]]}`);
      else left += to - from;
    }
    trouble.replaceChildren(
      ...lines.map((text) => {
        const item = document.createElement('li');
        item.textContent = text;
        return item;
      }),
    );
    if (left > 0) {
      const item = document.createElement('li');
      item.textContent = `and ${count(left)} more`;
      trouble.append(item);
    }
  }

  canvas.addEventListener('pointermove', ({ offsetX, offsetY }) => {
    const column = Math.floor(offsetX / cell);
    const env = Math.floor(offsetY / cell) * columns + column;
    if (column < columns && env < states.length) point(env);
  });
  canvas.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    point(cursor + step);
  });
  window.addEventListener('resize', paint);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);

  return (runs, counts, head) => {
    const next = unpack(runs, head.envs);
    const changed = next.length !== states.length || next.some((state, env) => state !== states[env]);
    states = next;
    ranges = head.ranges;
    counts.forEach((number, state) => {
      values[state].textContent = count(number);
    });
    if (!changed) return;
    paint();
    listTrouble();
    const parts = counts.map((number, state) => [number, STATES[state]]).filter(([number]) => number > 0);
    canvas.setAttribute(
      'aria-label',
      `Map of ${count(states.length)} envs: ${parts.map(([number, state]) => `${count(number)} ${state}`).join(', ')}`,
    );
  };
}
