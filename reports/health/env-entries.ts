// The drill-down: one entry per worker and per env that something happened to, as targets of links from the map and the tables. Bounded by
// MAX_ENTRIES and by the text it may take; what is left out is said.
import type { HealthReport } from '../../harness/contract/health-report.js';
import { formatCount, formatSeconds } from '../quantity.js';
import { escapeHtml } from '../render/escape-html.js';
import type { HealthIndex } from './health-index.js';

const MAX_CHARS = 2_000_000;

type Lines = HealthReport['events']['envs'][number][1];

function eventList({ events }: HealthReport, lines: Lines): string {
  return `<ol>${lines
    .map(([s, type, text]) => {
      const said = text < 0 ? 'its text is in events.sqlite' : (events.texts[text] ?? '');
      return `<li><span>${formatSeconds(s)}</span><code>${escapeHtml(events.types[type] ?? '', 40)}</code> ${escapeHtml(said, 240)}</li>`;
    })
    .join('')}</ol>`;
}

function envEntry(health: HealthReport, index: HealthIndex, env: number, lines: Lines): string {
  const range = index.rangeOf(env);
  const state = index.stateOf(env);
  const [, rebuilds = 0, failures = 0] = health.troubled.envs.find(([id]) => id === env) ?? [];
  const frames = health.frames?.[env] ?? -1;
  const worker =
    range === undefined
      ? ''
      : index.hasWorkerEntry(range.worker)
        ? `<a href="#worker-${range.worker}">worker ${range.worker}</a>`
        : `worker ${range.worker}`;
  const facts = [
    ...(range === undefined ? [] : [escapeHtml(range.entry, 60), worker]),
    ...(frames < 0 ? [] : [`${formatCount(frames)} frames`]),
    `${formatCount(failures)} failure${failures === 1 ? '' : 's'}`,
    `${formatCount(rebuilds)} rebuild${rebuilds === 1 ? '' : 's'}`,
  ];
  return `<article id="env-${env}"><h4>env ${formatCount(env)} <span class="state ${state}">${state.replace('-', ' ')}</span></h4><p>${facts.join(' \u00b7 ')} \u00b7 <a href="#health-map">map</a></p>${eventList(health, lines)}</article>`;
}

/** Empty when nothing happened to anybody. */
export function envEntries(health: HealthReport, index: HealthIndex): string {
  const lines = new Map(health.events.envs);
  const parts: string[] = [];
  let chars = 0;
  for (const [worker, ofWorker] of health.events.workers) {
    parts.push(
      `<article id="worker-${worker}"><h4>worker ${worker}</h4><p><a href="#health-map">map</a></p>${eventList(health, ofWorker)}</article>`,
    );
  }
  let shown = 0;
  for (const env of index.entries) {
    const entry = envEntry(health, index, env, lines.get(env) ?? []);
    chars += entry.length;
    // The link of a cell must lead somewhere: beyond the limit an entry is its heading.
    parts.push(
      chars <= MAX_CHARS
        ? entry
        : `<article id="env-${env}"><h4>env ${formatCount(env)}</h4><p>its events are in events.sqlite</p></article>`,
    );
    shown++;
  }
  if (parts.length === 0) return '';
  const more = health.events.envs.length - shown;
  const left = [
    ...(more > 0 ? [`${formatCount(more)} more envs in health.json`] : []),
    ...(health.events.left_out > 0 ? [`${formatCount(health.events.left_out)} older events in events.sqlite only`] : []),
  ].join(', ');
  return `<h3 class="sub">What happened to whom</h3><div class="entries" tabindex="0" role="region" aria-label="Events by worker and env">${parts.join('\n')}</div><p class="note">Workers first, then environments, the worst first; per env its first and its newest events${left === '' ? '' : `. ${escapeHtml(left)}`}.</p>`;
}
