// Draws a figure on the server: Observable Plot into an SVG element of a document without a browser, coloured by the page's variables so
// that it follows light and dark. Figures use neither markers nor clips: Plot numbers those over the life of the process, so that a
// second rendering would differ from the first.
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { escapeHtml } from './escape-html.js';

/** Width of every figure in SVG units: one column of the page, so that text stays readable on a telephone. */
export const FIGURE_WIDTH = 460;
export const FIGURE_HEIGHT = 290;
/** For figures of which three stand side by side. */
export const SMALL_WIDTH = 340;
export const SMALL_HEIGHT = 240;
/** Least height of a row of horizontal bars whose names do not touch. */
const MIN_ROW = 17;
/** Bars do not grow thicker than this when there are few. */
const MAX_BAR = 24;

/** Ordered colours of categories, defined by the page for light and dark. */
export const COLOURS = ['var(--c1)', 'var(--c2)', 'var(--c3)', 'var(--c4)', 'var(--c5)', 'var(--c6)', 'var(--c7)'] as const;

export function colourAt(index: number): string {
  return COLOURS[index % COLOURS.length] ?? COLOURS[0];
}

/** Colours of a rising order (tiers): from faint to strong ink of one hue. */
export function rampColours(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const share = count === 1 ? 1 : i / (count - 1);
    return `color-mix(in oklab, var(--ramp-high) ${Math.round(share * 100)}%, var(--ramp-low))`;
  });
}

export interface LegendEntry {
  readonly name: string;
  readonly colour: string;
  /** Default: a filled square. */
  readonly mark?: 'line' | 'dash' | 'dot' | 'bar';
}

export interface Figure {
  readonly title: string;
  /** Counter, clock, denominator. */
  readonly note: string;
  readonly svg: string;
  readonly legend: readonly LegendEntry[];
}

/** Height and band padding of a small figure with `rows` horizontal bars between the given margins. */
export function rowLayout(rows: number, margins: number): { readonly height: number; readonly padding: number } {
  const height = Math.max(SMALL_HEIGHT, margins + rows * MIN_ROW);
  return { height, padding: Math.max(0.34, 1 - MAX_BAR / ((height - margins) / rows)) };
}

/** An SVG element as text. `label` tells readers of the page's text what it shows. */
export function drawSvg(options: Plot.PlotOptions, label: string): string {
  const { document } = parseHTML('<!doctype html><html><body></body></html>');
  const element = Plot.plot({
    width: FIGURE_WIDTH,
    height: FIGURE_HEIGHT,
    marginTop: 26,
    marginRight: 18,
    marginBottom: 46,
    ...options,
    document: document as never,
  }) as unknown as SvgElement;
  for (const style of element.querySelectorAll('style')) style.remove();
  for (const attribute of ['class', 'font-size', 'font-family']) element.removeAttribute(attribute);
  // Not through the element: linkedom leaves `<` in attributes as it is, which is legal, but not worth relying on.
  return roundCoordinates(element.outerHTML).replace('<svg', () => `<svg role="img" aria-label="${escapeHtml(label)}"`);
}

interface SvgElement {
  readonly outerHTML: string;
  querySelectorAll(selector: string): Iterable<{ remove(): void }>;
  removeAttribute(name: string): void;
}

/** Hundredths of a unit are finer than any screen; the rest of the digits is bytes. Only attributes are touched, never text. */
function roundCoordinates(svg: string): string {
  return svg.replace(/ (?:d|transform|x|y|x1|y1|x2|y2|cx|cy|r|width|height)="[^"]*"/g, (attribute) =>
    attribute.replace(/\d+\.\d{3,}/g, (number) => String(Math.round(Number(number) * 100) / 100)),
  );
}

/** A figure with its title, legend and footnote. */
export function renderFigure(figure: Figure): string {
  const legend = figure.legend
    .map(
      ({ name, colour, mark = 'bar' }) =>
        `<li><svg class="key" viewBox="0 0 18 10" width="18" height="10" aria-hidden="true">${keyMark(mark, colour)}</svg>${escapeHtml(name, 40)}</li>`,
    )
    .join('');
  return `<figure><figcaption><h3>${escapeHtml(figure.title)}</h3>${legend === '' ? '' : `<ul class="legend">${legend}</ul>`}</figcaption>${figure.svg}<p class="note">${escapeHtml(figure.note)}</p></figure>`;
}

function keyMark(mark: NonNullable<LegendEntry['mark']>, colour: string): string {
  switch (mark) {
    case 'bar':
      return `<rect x="3" y="0" width="12" height="10" rx="2" style="fill:${colour}"/>`;
    case 'dot':
      return `<circle cx="9" cy="5" r="4" style="fill:${colour}"/>`;
    case 'line':
    case 'dash':
      return `<path d="M0 5H18" style="stroke:${colour};stroke-width:2.5${mark === 'dash' ? ';stroke-dasharray:5 3' : ''}"/>`;
  }
}
