// report.html: one self-contained file that a person opens from disk, reads without script and prints. Nothing is fetched, nothing runs, and
// the same folder renders to the same bytes: no date of rendering, no random id. Pure.
import { healthSection } from '../health/health-section.js';
import { HEALTH_STYLE } from '../health/health-style.js';
import type { ReportModel } from '../model.js';
import { formatInstant } from '../quantity.js';
import { escapeHtml } from './escape-html.js';
import { type Figure, renderFigure } from './figure.js';
import { latencyFigure } from './figures/latency.js';
import { learningFigures } from './figures/learning.js';
import { memoryFigure } from './figures/memory.js';
import { phasesFigure } from './figures/phases.js';
import { spectrumFigure } from './figures/spectrum.js';
import { startUpFigure } from './figures/start-up.js';
import { throughputFigure } from './figures/throughput.js';
import { timelineFigure } from './figures/timeline.js';
import {
  balanceSection,
  deathsSection,
  kindsSection,
  ladderSection,
  machineSection,
  measuredTiers,
  preflightSection,
  reproduceSection,
  tilesSection,
} from './html-sections.js';
import { objectivesSection, verdictSection, warningsSection } from './html-verdict.js';
import { rigHtml } from './rig-section.js';
import { STYLE } from './style.js';

/** Forbids what the page does not do anyway, also should text from outside ever slip through. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

function section(title: string, body: string): string {
  return `<section><h2>${escapeHtml(title)}</h2>\n${body}</section>\n`;
}

function gridOf(figures: readonly (Figure | undefined)[], size: 'wide' | 'small', missing: string): string {
  const drawn = figures.filter((figure) => figure !== undefined).map(renderFigure);
  return drawn.length === 0 ? `<p class="empty">${escapeHtml(missing)}</p>` : `<div class="grid ${size}">${drawn.join('\n')}</div>`;
}

function learningSection(model: ReportModel): string {
  const figures = learningFigures(model);
  const curves = gridOf(figures, 'small', 'No learning curve: fewer than two measurements of a finished episode.');
  return `${curves}<div class="gap"></div>${kindsSection(model)}`;
}

/** The whole page, ending in a newline. */
export function renderHtml(model: ReportModel): string {
  const { record } = model;
  const measured = measuredTiers(record);
  const objectives = objectivesSection(model);
  const health = healthSection(model);
  const rig = rigHtml(record);
  const title = `envladder ${record.run.id}: ${record.verdict}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="generator" content="envladder ${escapeHtml(record.run.envladder_version)}">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}${health === '' ? '' : HEALTH_STYLE}</style>
</head>
<body>
<main>
<header><h1>envladder</h1><p>run ${escapeHtml(record.run.id)}</p><p>${escapeHtml(formatInstant(record.run.started_at))}</p></header>
${verdictSection(model)}
${warningsSection(model)}
${tilesSection(model)}
${section('Ladder', ladderSection(model))}
${objectives === '' ? '' : section('Objectives', objectives)}
${section('Throughput and latency', gridOf([throughputFigure(measured), latencyFigure(measured), timelineFigure(model), spectrumFigure(measured)], 'wide', 'No tier was measured.'))}
${section('Cost', gridOf([memoryFigure(record.tiers), startUpFigure(record.tiers), phasesFigure(measured)], 'small', 'Nothing was measured.'))}
${section('Learning', learningSection(model))}
${section('Balance', balanceSection(model))}
${health === '' ? '' : section('Health', health)}${section('Deaths and restarts', deathsSection(model))}
${section('Pre-flight', preflightSection(model))}
${section('Machine', machineSection(model))}
${rig === '' ? '' : section('Rig', rig)}${section('Reproduce', reproduceSection(record))}
<footer>Rendered from run.json (schema ${escapeHtml(record.schema_version)})${model.health === undefined ? ' and' : ','} metrics.ndjson${model.health === undefined ? '' : ' and health.json'} of its run folder; rendering again gives the same bytes.</footer>
</main>
</body>
</html>
`;
}
