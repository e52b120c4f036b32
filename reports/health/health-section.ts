// The section "Health" of report.html: map, facts, figures, tables, drill-down. From health.json and the metrics' curve alone. Pure.
import type { ReportModel } from '../model.js';
import { escapeHtml } from '../render/escape-html.js';
import { renderFigure } from '../render/figure.js';
import { envEntries } from './env-entries.js';
import { envMap } from './env-map.js';
import { growthFigure } from './growth-figure.js';
import { indexHealth } from './health-index.js';
import { errorsTable, gapsTable, growthTable, slowestTable, stabilityTable } from './health-tables.js';
import { healthFacts } from './health-words.js';
import { restartsFigure } from './restarts-figure.js';

/** Empty for a run without health.json. */
export function healthSection({ health, healthProblem, metrics }: ReportModel): string {
  if (health === undefined) return healthProblem === undefined ? '' : `<p class="empty">${escapeHtml(healthProblem, 400)}</p>`;
  const index = indexHealth(health);
  const facts = healthFacts(health).map(([name, fact]) => `<div><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(fact)}</dd></div>`);
  const unfinished = health.final
    ? ''
    : '<p class="empty">The run was not stopped in order: this is how it stood at most a minute before its end.</p>';
  const figures = [restartsFigure(health, metrics), growthFigure(health)].filter((figure) => figure !== undefined);
  const grid = figures.length === 0 ? '' : `<div class="gap"></div><div class="grid wide">${figures.map(renderFigure).join('\n')}</div>`;
  return [
    unfinished,
    envMap(health, index),
    `<dl class="facts health">${facts.join('')}</dl>`,
    grid,
    growthTable(health) === '' ? '' : `<div class="gap"></div>${growthTable(health)}`,
    errorsTable(health, index),
    stabilityTable(health, index),
    slowestTable(health, index),
    gapsTable(health, index),
    envEntries(health, index),
  ].join('\n');
}
