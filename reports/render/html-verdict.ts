// The top of report.html: the three answers, each in its own words. Is the run valid, does it meet its objectives, and what should a reader
// know besides. Each function takes the model and returns escaped HTML.
import type { Reason } from '../../harness/contract/run-record.js';
import type { ReportModel } from '../model.js';
import { formatCount, MISSING, oneLine } from '../quantity.js';
import { headline, stateText } from '../stats/headline.js';
import { formatAmount, objectiveRows, objectivesText, SLO_WORDS } from '../stats/objectives.js';
import { type Shown, showFirst } from '../stats/shown.js';
import { escapeHtml } from './escape-html.js';
import { type Cell, type Column, renderTable } from './html-table.js';
import { reasonsOf } from './terminal.js';

const restNote = ({ rest }: Shown<unknown>): string => (rest === '' ? '' : `<p class="note">${escapeHtml(rest)}.</p>`);

function reasonItem(place: string, { code, message, advice }: Reason): string {
  return `<li><strong>${escapeHtml(`${place}${message}`)}</strong><code>${escapeHtml(code)}</code>${advice === '' ? '' : `<span class="advice">${escapeHtml(advice)}</span>`}</li>`;
}

export function verdictSection({ record }: ReportModel): string {
  const valid = record.verdict === 'valid';
  const reasons = showFirst(reasonsOf(record), 'reasons');
  const word = SLO_WORDS[record.slo_verdict];
  const slo = word === '' ? '' : `<b class="slo ${record.slo_verdict}">${word}</b>`;
  const items = reasons.items.map(([place, reason]) => reasonItem(place, reason));
  return `<section class="verdict ${valid ? 'valid' : 'invalid'}" aria-label="Verdict"><p class="word"><b>${valid ? 'VALID' : 'INVALID'}</b>${slo}<span>run ${escapeHtml(stateText(record))} \u00b7 exit code ${record.exit_code}</span></p><p class="said">${escapeHtml(headline(record))}</p>${items.length === 0 ? '' : `<ul class="reasons">${items.join('')}</ul>`}${restNote(reasons)}</section>`;
}

/** Empty when there is nothing to warn of. */
export function warningsSection({ record }: ReportModel): string {
  if (record.warnings.length === 0) return '';
  const warnings = showFirst(record.warnings, 'warnings');
  const count = record.warnings.length;
  return `<section class="verdict warned" aria-label="Warnings"><p class="word"><b>${count === 1 ? 'WARNING' : `${formatCount(count)} WARNINGS`}</b><span>the verdict stands; read the figures with this in mind</span></p><ul class="reasons">${warnings.items.map((warning) => reasonItem('', warning)).join('')}</ul>${restNote(warnings)}</section>`;
}

/** Objectives, a row each, tiers side by side. Empty without objectives. */
export function objectivesSection({ record }: ReportModel): string {
  const rows = objectiveRows(record);
  if (rows.length === 0) return '';
  const columns: Column[] = [
    { heading: 'objective', align: 'text' },
    ...record.tiers.map((tier) => ({ heading: oneLine(tier.label, 40), unit: 'measured' })),
  ];
  const cells = rows.map(({ slo, results }): Cell[] => [
    oneLine(slo, 120),
    ...results.map((result): Cell => {
      if (result === undefined) return '';
      if (result.verdict === 'not-measured') return { html: MISSING, className: 'quiet' };
      const missed = result.verdict === 'missed';
      const html = `${escapeHtml(formatAmount(result.value))} <span class="pill ${missed ? 'missed' : 'valid'}">${missed ? 'missed' : 'met'}</span>`;
      return { html: result.aborted ? `${html}<br><small class="quiet">ended the tier</small>` : html };
    }),
  ]);
  return `${renderTable('Objectives by tier', columns, cells)}<p class="note">${escapeHtml(objectivesText(record))}. An objective is judged on the tier\u2019s own result, latency on the tier\u2019s own histogram. ${MISSING} = not measured: neither met nor missed.</p>`;
}
