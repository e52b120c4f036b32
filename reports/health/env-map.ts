// The map of all envs: a cell each, a hundred in a row, by id. A state shows as colour and as pattern; cells with something to tell are links to
// it. Equal neighbours are one rectangle under a grid, so that 7,000 envs are some kilobytes. Beyond 10,000 envs a cell stands for several.
import { HEALTH_STATES, type HealthReport, type HealthState } from '../../harness/contract/health-report.js';
import { formatCount } from '../quantity.js';
import { escapeHtml } from '../render/escape-html.js';
import { type HealthIndex, SEVERITY } from './health-index.js';

const MOST_CELLS = 10_000;
const LEFT = 54;

/** A cell's marks by state, in a square of `s` units, over its ground. */
const MARKS: Readonly<Record<HealthState, (s: number) => string>> = {
  'not-started': (s) => `<circle cx="${s / 2}" cy="${s / 2}" r="${s / 9}" class="m-axis"/>`,
  live: (s) => `<rect width="${s}" height="${s}" class="m-live"/>`,
  restarted: (s) => `<rect width="${s}" height="${s}" class="m-restarted"/><path d="M${s * 0.35} 0H${s}V${s * 0.65}Z" class="m-paper"/>`,
  slow: (s) => `<rect y="${s / 2}" width="${s}" height="${s / 2}" class="m-slow"/>`,
  quarantined: (s) =>
    `<rect width="${s}" height="${s}" class="m-bad"/><path d="M${s * 0.25} ${s * 0.25}L${s * 0.75} ${s * 0.75}M${s * 0.75} ${s * 0.25}L${s * 0.25} ${s * 0.75}" class="m-cross"/>`,
  lost: (s) => `<rect x="1.2" y="1.2" width="${s - 2.4}" height="${s - 2.4}" class="m-hollow"/>`,
  stale: (s) =>
    `<rect y="${s * 0.1}" width="${s}" height="${s * 0.28}" class="m-stale"/><rect y="${s * 0.62}" width="${s}" height="${s * 0.28}" class="m-stale"/>`,
};

const NAMES: Readonly<Record<HealthState, string>> = Object.fromEntries(
  HEALTH_STATES.map((state) => [state, state.replace('-', ' ')]),
) as Record<HealthState, string>;

interface Grid {
  readonly columns: number;
  readonly size: number;
  /** Envs of a cell. */
  readonly each: number;
  readonly rows: number;
}

function gridOf(envs: number): Grid {
  const each = Math.max(1, Math.ceil(envs / MOST_CELLS));
  const cells = Math.ceil(envs / each);
  const columns = cells <= 200 ? 25 : cells <= 1000 ? 50 : 100;
  return { columns, size: columns === 100 ? 10 : columns === 50 ? 18 : 22, each, rows: Math.ceil(cells / columns) };
}

interface Cell {
  readonly state: HealthState;
  /** What it leads to: `env-17`, `worker-3`, or nothing. */
  readonly target: string;
  readonly first: number;
  readonly last: number;
  readonly entry: string;
  /** Live, but with events of its own. */
  readonly marked: boolean;
}

function cellAt(health: HealthReport, index: HealthIndex, at: number, each: number): Cell {
  const first = at * each;
  const last = Math.min(health.envs, first + each) - 1;
  let env = first;
  for (let other = first; other <= last; other++) {
    const worse = SEVERITY.indexOf(index.stateOf(other)) - SEVERITY.indexOf(index.stateOf(env));
    if (worse < 0 || (worse === 0 && index.hasEntry(other) && !index.hasEntry(env))) env = other;
  }
  const state = index.stateOf(env);
  const range = index.rangeOf(env);
  const quiet = state === 'live' || state === 'not-started';
  const toWorker = !quiet && range !== undefined && index.hasWorkerEntry(range.worker);
  const target = index.hasEntry(env) ? `env-${env}` : toWorker ? `worker-${range.worker}` : '';
  return { state, target, first, last, entry: range?.entry ?? '', marked: quiet && target !== '' };
}

const same = (a: Cell, b: Cell): boolean => a.state === b.state && a.target === b.target && a.entry === b.entry && !a.marked && !b.marked;

function drawRun(cells: readonly Cell[], column: number, row: number, size: number): string {
  const { state, target, first, entry, marked } = cells[0] as Cell;
  const { last } = cells.at(-1) as Cell;
  const [x, y] = [column * size, row * size];
  const ids = first === last ? `env ${formatCount(first)}` : `envs ${formatCount(first)} to ${formatCount(last)}`;
  const title = `<title>${escapeHtml(`${ids}: ${NAMES[state]}${entry === '' ? '' : `, ${entry}`}`, 120)}</title>`;
  const rect = `<rect x="${x}" y="${y}" width="${cells.length * size}" height="${size}" fill="url(#m-${state})">${title}</rect>`;
  const dot = marked ? `<circle cx="${x + size / 2}" cy="${y + size / 2}" r="${size / 6}" class="m-dot"/>` : '';
  return target === '' ? `${rect}${dot}` : `<a href="#${target}">${rect}${dot}</a>`;
}

/** The map with its legend: an HTML figure. */
export function envMap(health: HealthReport, index: HealthIndex): string {
  if (health.envs === 0) return '<p class="empty">No environment was planned.</p>';
  const grid = gridOf(health.envs);
  const { columns, size, each, rows } = grid;
  const cells = Math.ceil(health.envs / each);
  const runs: string[] = [];
  const labels: string[] = [];
  for (let row = 0; row < rows; row++) {
    if (row % (rows > 12 ? 5 : 1) === 0)
      labels.push(`<text x="-8" y="${row * size + size / 2 + 3.5}" text-anchor="end">${formatCount(row * columns * each)}</text>`);
    let run: Cell[] = [];
    const from = row * columns;
    for (let at = from; at < Math.min(cells, from + columns); at++) {
      const cell = cellAt(health, index, at, each);
      if (run.length > 0 && !same(run.at(-1) as Cell, cell)) {
        runs.push(drawRun(run, at - from - run.length, row, size));
        run = [];
      }
      run.push(cell);
    }
    runs.push(drawRun(run, Math.min(cells, from + columns) - from - run.length, row, size));
  }
  const patterns = HEALTH_STATES.map(
    (state) => `<pattern id="m-${state}" width="${size}" height="${size}" patternUnits="userSpaceOnUse">${MARKS[state](size)}</pattern>`,
  ).join('');
  const lines = `<pattern id="m-grid" width="${size}" height="${size}" patternUnits="userSpaceOnUse"><path d="M0 0V${size}M0 0H${size}" class="m-line"/></pattern>`;
  const [width, height] = [columns * size, rows * size];
  const counts = HEALTH_STATES.map((state) => `${formatCount(health.state_counts[state] ?? 0)} ${NAMES[state]}`).join(', ');
  const svg = `<svg viewBox="${-LEFT} -2 ${width + LEFT + 4} ${height + 6}" style="max-width:${Math.round((width + LEFT) * 1.3)}px" role="group" aria-label="${escapeHtml(`Map of ${formatCount(health.envs)} environments: ${counts}`)}"><defs>${patterns}${lines}</defs>${labels.join('')}${runs.join('')}<rect width="${width}" height="${height}" fill="url(#m-grid)" pointer-events="none"/></svg>`;
  const legend = HEALTH_STATES.map((state) => {
    const count = health.state_counts[state] ?? 0;
    return `<li${count === 0 ? ' class="quiet"' : ''}><svg class="key" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">${MARKS[state](14)}</svg><b>${formatCount(count)}</b> ${NAMES[state]}</li>`;
  }).join('');
  const note = `${each === 1 ? 'One cell per environment' : `One cell per ${formatCount(each)} environments, drawn as the worst of them`}, ${columns} a row, by id (left: first id of the row). A cell that is not live leads to its events below, or to its worker\u2019s; a dotted one is well and has a past.`;
  return `<figure class="env-map" id="health-map"><figcaption><h3>Every environment at the end of the run</h3><ul class="legend">${legend}</ul></figcaption><div class="map-scroll" tabindex="0" role="region" aria-label="Map of environments">${svg}</div><p class="note">${escapeHtml(note)}</p></figure>`;
}
