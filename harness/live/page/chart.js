// A line chart in SVG: time below, one value axis, a few series. Drawn anew with every frame from at most 1,200 points; says in words what
// it shows, for who cannot see it.
import { duration, short } from './format.js';

const SVG = 'http://www.w3.org/2000/svg';
const HEIGHT = 190;
const LEFT = 46;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 24;

function shape(parent, name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

/** Round steps that cut `span` into about `wanted` parts. */
function niceStep(span, wanted) {
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((each) => each * power >= rough) ?? 10;
  return factor * power;
}

/** The same for time: steps people count in. */
function timeStep(span, wanted) {
  const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400];
  return steps.find((step) => span / step <= wanted) ?? niceStep(span, wanted);
}

/** Path of the points that have a value; a gap stays a gap. */
function pathOf(points, read, x, y) {
  let path = '';
  let pen = 'M';
  for (const point of points) {
    const value = read(point);
    if (value === null || !Number.isFinite(value)) {
      pen = 'M';
      continue;
    }
    path += `${pen}${x(point.t).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = 'L';
  }
  return path;
}

/** `series`: [{name, read(point), tone}]. `format` writes axis values; `most` fixes the axis' upper end. */
export function createChart(figure, { title, series, format = short, most = null }) {
  const caption = document.createElement('figcaption');
  const heading = document.createElement('h3');
  heading.textContent = title;
  const legend = document.createElement('ul');
  legend.className = 'legend';
  const figures = series.map(({ name, tone }) => {
    const item = document.createElement('li');
    const key = document.createElement('span');
    key.className = `key tone-${tone}`;
    const label = document.createElement('span');
    label.textContent = name;
    const value = document.createElement('b');
    item.append(key, label, value);
    legend.append(item);
    return value;
  });
  caption.append(heading, legend);
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('role', 'img');
  figure.append(caption, svg);

  return (points, tierStarts = []) => {
    const width = Math.max(240, svg.clientWidth || figure.clientWidth || 480);
    svg.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
    svg.replaceChildren();
    const values = points
      .flatMap((point) => series.map(({ read }) => read(point)))
      .filter((value) => value !== null && Number.isFinite(value));
    const high = most ?? Math.max(0, ...values);
    const low = most === null ? Math.min(0, ...values) : 0;
    const step = niceStep(high - low > 0 ? high - low : 1, 4);
    const bottom = Math.floor(low / step) * step;
    const top = Math.max(bottom + step, Math.ceil(high / step) * step);
    const from = points[0]?.t ?? 0;
    const until = Math.max(from + 1, points.at(-1)?.t ?? 0);
    const x = (t) => LEFT + ((t - from) / (until - from)) * (width - LEFT - RIGHT);
    const y = (value) => HEIGHT - BOTTOM - ((value - bottom) / (top - bottom)) * (HEIGHT - TOP - BOTTOM);

    for (let value = bottom; value <= top + step / 2; value += step) {
      shape(svg, 'line', { class: 'rule', x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) });
      shape(svg, 'text', { x: LEFT - 7, y: y(value) + 4, 'text-anchor': 'end' }, format(value));
    }
    const ticks = timeStep(until - from, Math.max(2, Math.floor((width - LEFT) / 90)));
    for (let t = Math.ceil(from / ticks) * ticks; t <= until; t += ticks) {
      const at = x(t);
      if (at > width - RIGHT - 14) break;
      shape(svg, 'text', { x: at, y: HEIGHT - 7, 'text-anchor': at < LEFT + 12 ? 'start' : 'middle' }, duration(t));
    }
    for (const t of tierStarts)
      if (t > from && t < until) shape(svg, 'line', { class: 'tier-mark', x1: x(t), x2: x(t), y1: TOP, y2: HEIGHT - BOTTOM });
    series.forEach(({ read, tone }) => {
      shape(svg, 'path', { class: `curve tone-${tone}`, d: pathOf(points, read, x, y) });
    });

    const newest = series.map(({ read }) => points.map(read).findLast((value) => value !== null && Number.isFinite(value)) ?? null);
    newest.forEach((value, index) => {
      figures[index].textContent = value === null ? 'none yet' : format(value);
    });
    const said = series.map(
      ({ name }, index) => `${name} ${newest[index] === null ? 'has no value yet' : `is now ${format(newest[index])}`}`,
    );
    svg.setAttribute('aria-label', `${title}: ${said.join('; ')}. From ${duration(from)} to ${duration(until)} of run time.`);
  };
}
