// claims.html: one self-contained page that reads like a paper's table and then a section per claim. No script, nothing fetched; the same record
// renders to the same bytes. Pure.
import { formatInstant, MISSING } from '../quantity.js';
import { escapeHtml } from '../render/escape-html.js';
import { CLAIMS_STYLE } from './claims-style.js';
import {
  countsSentence,
  formatFigure,
  formatInterval,
  loadWarning,
  loadWords,
  machineSentence,
  ruleSentence,
  saidFigure,
  sidesOf,
  sizeWarning,
  testsWords,
} from './claims-words.js';
import type { Middle } from './estimates.js';
import { intervalFigure } from './interval-figure.js';
import type { JudgedClaim, JudgedClaims } from './judge-claims.js';

/** Forbids what the page does not do anyway. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/** Sides of the headline metric in the table; all of them stand below. */
const MAX_SIDES = 6;

const classOf = (verdict: string): string => verdict.replaceAll(' ', '-');

function figureHtml(middle: Middle | null): string {
  if (middle === null) return MISSING;
  const interval = formatInterval(middle.interval) === '' ? '' : ` <span class="ci">[${formatInterval(middle.interval)}]</span>`;
  return `${formatFigure(middle.value)}${interval}`;
}

function sidesCell(claim: JudgedClaim): string {
  const shown = sidesOf(claim);
  if (shown === null || shown.sides.length === 0) return `<td class="sides">${MISSING}</td>`;
  const { metric, sides } = shown;
  const lines = sides.slice(0, MAX_SIDES).map(({ side, middle }) => `<span>${escapeHtml(side.name)}</span><b>${figureHtml(middle)}</b>`);
  const unit = metric.metric.unit === '' ? '' : `, ${metric.metric.unit}`;
  return `<td class="sides"><p>${escapeHtml(metric.metric.name + unit)}</p><div>${lines.join('')}</div></td>`;
}

function row(claim: JudgedClaim): string {
  const { entry, ratio, verdict } = claim;
  const said = entry.said.text.charAt(0).toUpperCase() + entry.said.text.slice(1);
  const ratioCell =
    ratio === null ? MISSING : `${figureHtml(ratio)}<br><span class="quiet">${escapeHtml(`${ratio.side} / ${ratio.to}`)}</span>`;
  return `<tr><th scope="row"><a href="#${entry.id}">${escapeHtml(entry.id)}</a><span>${escapeHtml(said)}</span></th><td class="number">${escapeHtml(saidFigure(claim))}</td>${sidesCell(claim)}<td>${ratioCell}</td><td class="number">${claim.n}</td><td class="why"><span class="verdict ${classOf(verdict)}">${verdict}</span><small>${escapeHtml(claim.why)}</small></td></tr>`;
}

/** A row per metric, a column per side. */
function measuredTable(claim: JudgedClaim): string {
  const measured = claim.metrics.filter(({ sides }) => sides.some(({ middle }) => middle !== null));
  if (measured.length === 0) return '';
  const names = claim.entry.registered.sides.map(({ name }) => `<th scope="col" class="number">${escapeHtml(name)}</th>`);
  const rows = measured.map(({ metric, sides }) => {
    const cells = sides.map(({ middle }) => `<td class="number">${figureHtml(middle)}</td>`);
    return `<tr><th scope="row">${escapeHtml(metric.name)}</th><td>${escapeHtml(metric.unit)}</td>${cells.join('')}</tr>`;
  });
  return `<div class="scroll"><table><thead><tr><th scope="col">metric</th><th scope="col">unit</th>${names.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function article(claim: JudgedClaim): string {
  const { entry, verdict } = claim;
  const { sides, rule, method } = entry.registered;
  const headline = claim.metrics.find(({ sides: of }) => of.some(({ middle }) => middle !== null));
  const keys = sides
    .map(({ name, role, what }) => `<dt><i class="key ${role}"></i><code>${escapeHtml(name)}</code></dt><dd>${escapeHtml(what)}</dd>`)
    .join('');
  const facts = Object.entries(entry.conditions).map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`);
  const rules = claim.rules.map((judged) => `<li class="${judged.holds}">${escapeHtml(ruleSentence(judged))}</li>`).join('');
  const notes = entry.notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('');
  const load = [loadWords(claim), entry.seconds > 0 ? `took ${entry.seconds} s` : ''].filter((words) => words !== '').join('; ');
  return `<article id="${entry.id}"><header><h3>${escapeHtml(entry.id)}</h3><span class="verdict ${classOf(verdict)}">${verdict}</span><span class="small">${escapeHtml(claim.why)}</span></header>
<p>${escapeHtml(entry.question)} <span class="quiet">The account: <i>${escapeHtml(entry.said.text)}.</i></span></p>
<div class="columns"><div><dl>${keys}</dl><p class="small">${escapeHtml(method)}</p>
<p class="rule"><b>Rule</b>, fixed before the run; it ${escapeHtml(testsWords(claim))}: ${escapeHtml(rule)}.</p><ul class="rules">${rules}</ul></div>
<div>${headline === undefined ? '' : intervalFigure(headline, claim.rules)}${facts.length === 0 ? '' : `<dl>${facts.join('')}</dl>`}</div></div>
${measuredTable(claim)}${notes === '' ? '' : `<ul class="small">${notes}</ul>`}${load === '' ? '' : `<p class="small">${escapeHtml(load)}.</p>`}</article>`;
}

/** The whole page, ending in a newline. */
export function renderClaimsHtml(judged: JudgedClaims): string {
  const { record, claims } = judged;
  const warnings = [sizeWarning(record.size), loadWarning(judged)].filter((warning) => warning !== '');
  const cut = record.interrupted ? ' The run was interrupted: claims are missing.' : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="generator" content="envladder ${escapeHtml(record.tool_version)}">
<title>Claims, measured here</title>
<link rel="icon" href="data:,">
<style>${CLAIMS_STYLE}</style>
</head>
<body>
<main>
<h1>The account’s claims, measured on this machine</h1>
<p class="lead">${escapeHtml(countsSentence(judged))}.${cut}</p>
<p class="small">${escapeHtml(machineSentence(judged))}.</p>
${warnings.map((warning) => `<p class="warn">${escapeHtml(warning)}</p>`).join('\n')}
<p class="caption"><b>Table 1.</b> Each claim beside what was measured: both sides of the same work, taken in turns in random order; middle and 95 % bootstrap interval over n repeats, and the ratio of two sides. The verdict follows from a rule that was fixed in the code before the run.</p>
<div class="scroll first"><table aria-label="Claims">
<thead><tr><th scope="col">claim</th><th scope="col" class="number">account</th><th scope="col">measured here [95 %]</th><th scope="col">ratio [95 %]</th><th scope="col" class="number">n</th><th scope="col">verdict</th></tr></thead>
<tbody>
${claims.map(row).join('\n')}
</tbody></table></div>
<h2>Each claim</h2>
<p class="small"><i class="key account"></i>as the account tells it &nbsp; <i class="key envladder"></i>what envladder does &nbsp; <i class="key reference"></i>a limit or a third way. A dashed line in a figure is the bound of the rule.</p>
${claims.map(article).join('\n')}
<footer>Rendered from claims.json (schema ${escapeHtml(record.schema_version)}), ended ${escapeHtml(formatInstant(record.ended_at))}; rendering again gives the same bytes. The samples are in it, one value per repeat.</footer>
</main>
</body>
</html>
`;
}
