// A strip per side with its middle and its 95 % interval on one axis, and the bound of the rule as a line: the figure of a claim. The axis is
// logarithmic where the sides lie far apart and all are positive. SVG text from numbers and escaped names. Pure.
import { escapeHtml } from '../render/escape-html.js';
import { formatFigure } from './claims-words.js';
import type { JudgedMetric, JudgedRule } from './judge-claims.js';

const WIDTH = 640;
const LEFT = 150;
const RIGHT = 24;
const ROW = 26;
const TOP = 10;
const BOTTOM = 26;
/** Sides further apart than this share no linear axis. */
const LOG_FROM = 12;

interface Axis {
  readonly x: (value: number) => number;
  readonly ticks: readonly number[];
}

const round = (value: number): string => Number(value.toFixed(1)).toString();

function linearTicks(high: number): number[] {
  const raw = high / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power;
  return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, i) => i * step);
}

function axisOf(values: readonly number[]): Axis {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = WIDTH - LEFT - RIGHT;
  if (low > 0 && high / low > LOG_FROM) {
    const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
    const every = Math.max(1, Math.ceil((to - from) / 6));
    const ticks = Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, i) => 10 ** (from + i * every));
    return { x: (value) => LEFT + ((Math.log10(Math.max(value, 10 ** from)) - from) / Math.max(1, to - from)) * span, ticks };
  }
  const top = high <= 0 ? 1 : high * 1.05;
  return { x: (value) => LEFT + (Math.max(0, value) / top) * span, ticks: linearTicks(top) };
}

/** Empty when fewer than one side was measured or a value is below 0. */
export function intervalFigure({ metric, sides }: JudgedMetric, rules: readonly JudgedRule[]): string {
  const shown = sides.filter(({ middle }) => middle !== null);
  const bounds = rules.filter(({ rule }) => rule.type === 'value' && rule.metric === metric.id).map(({ rule }) => rule.bound);
  const values = [...shown.flatMap(({ middle }) => [middle?.value, middle?.interval?.low, middle?.interval?.high]), ...bounds].filter(
    (value) => value !== undefined,
  );
  if (shown.length === 0 || values.some((value) => value < 0)) return '';
  // A bound of 0 on a logarithmic axis has no place: it stands at the left edge.
  const axis = axisOf(
    values.some((value) => value > 0)
      ? values.filter((value) => value > 0 || !shown.every(({ middle }) => (middle?.value ?? 0) > 0))
      : values,
  );
  const bottom = TOP + shown.length * ROW;
  const grid = axis.ticks.map((tick) => {
    const x = round(axis.x(tick));
    return `<line class="grid" x1="${x}" x2="${x}" y1="${TOP}" y2="${bottom}"/><text x="${x}" y="${bottom + 15}" text-anchor="middle">${formatFigure(tick)}</text>`;
  });
  const lines = bounds.map((bound) => {
    const x = round(axis.x(bound));
    return `<line class="bound" x1="${x}" x2="${x}" y1="${TOP - 6}" y2="${bottom + 3}"/>`;
  });
  const strips = shown.map(({ side, middle }, i) => {
    const y = TOP + i * ROW + ROW / 2;
    const bar =
      middle?.interval === null || middle === null
        ? ''
        : `<line class="spread ${side.role}" x1="${round(axis.x(middle.interval.low))}" x2="${round(axis.x(middle.interval.high))}" y1="${y}" y2="${y}"/>`;
    return `<text class="side" x="${LEFT - 12}" y="${y + 4}" text-anchor="end">${escapeHtml(side.name)}</text>${bar}<circle class="${side.role}" cx="${round(axis.x(middle?.value ?? 0))}" cy="${y}" r="4.5"/>`;
  });
  const label = `${metric.name} by side${metric.unit === '' ? '' : `, ${metric.unit}`}`;
  return `<figure><figcaption>${escapeHtml(label)}</figcaption><svg viewBox="0 0 ${WIDTH} ${bottom + BOTTOM}" role="img" aria-label="${escapeHtml(label)}">${grid.join('')}${lines.join('')}${strips.join('')}</svg></figure>`;
}
