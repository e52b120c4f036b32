// The sections of report.html that are words and tables. Each takes the model and returns escaped HTML.
import type { RunRecord, TierResult } from '../../harness/contract/run-record.js';
import type { ReportModel } from '../model.js';
import {
  formatBytes,
  formatCount,
  formatInstant,
  formatMicros,
  formatPercent,
  formatRate,
  formatReturn,
  formatSeconds,
  MISSING,
  oneLine,
} from '../quantity.js';
import { sumBalance } from '../stats/balance-sum.js';
import { DEFINITIONS } from '../stats/definitions.js';
import { topTier, totalPss } from '../stats/headline.js';
import { MAX_TAILS, showFirst } from '../stats/shown.js';
import { escapeHtml, escapeLines } from './escape-html.js';
import { type Cell, type Column, renderTable } from './html-table.js';
import { ladderColumns } from './ladder-columns.js';

/** A plan of a hundred tiers has 20,000. */
const MAX_PLAN_CHARS = 100_000;

const note = (...texts: readonly string[]) => `<p class="note">${texts.map((text) => escapeHtml(text)).join('. ')}.</p>`;
const empty = (text: string) => `<p class="empty">${escapeHtml(text)}</p>`;
const quiet = (text: string): Cell => ({ html: escapeHtml(text), className: 'quiet' });
const pill = (verdict: string): Cell => ({
  html: `<span class="pill ${verdict === 'valid' ? 'valid' : 'invalid'}">${escapeHtml(verdict)}</span>`,
});

export function tilesSection({ record }: ReportModel): string {
  const tier = topTier(record);
  if (tier === undefined) return '';
  const tiles: (readonly [string, string])[] = [
    [formatCount(tier.envs_live), `environments live of ${formatCount(tier.envs)} planned`],
    [formatRate(tier.sampling_sps), 'sampling, steps/s'],
    [formatRate(tier.training_sps), 'training, transitions/s'],
    [formatMicros(tier.step_latency_us.p99), 'step latency, p99'],
    [formatSeconds(tier.time_to_all_live_s), 'from start of tier to all live'],
    [formatBytes(totalPss(tier)), 'memory of all processes, PSS'],
  ];
  const shown = record.learner.mode === 'ppo' ? tiles : tiles.filter(([, name]) => !name.startsWith('training'));
  return `<ul class="tiles">${shown.map(([figure, name]) => `<li><span class="figure">${escapeHtml(figure)}</span><span class="name">${escapeHtml(name)}</span></li>`).join('')}</ul>${note(`At the largest tier measured, ${tier.label}`, ...(shown.some(([figure]) => figure === MISSING) ? [`${MISSING} = not measured`] : []))}`;
}

export function ladderSection({ record }: ReportModel): string {
  if (record.tiers.length === 0) return empty('No tier was started.');
  const shown = ladderColumns(record.tiers);
  const columns: Column[] = [
    { heading: 'tier', align: 'text' },
    { heading: 'verdict', align: 'text' },
    ...shown.map(({ heading, unit }) => ({ heading, unit })),
  ];
  const rows = record.tiers.map((tier) => [oneLine(tier.label, 80), pill(tier.validity.verdict), ...shown.map(({ cell }) => cell(tier))]);
  return `${renderTable('Ladder: one row per tier', columns, rows)}${note(DEFINITIONS.sampling, DEFINITIONS.training, DEFINITIONS.goodput, DEFINITIONS.fill, ...(shown.some(({ heading }) => heading === 'rate') ? [DEFINITIONS.rate] : []), `${MISSING} = not measured`)}`;
}

export function kindsSection({ record }: ReportModel): string {
  const names = [...new Set(record.tiers.flatMap((tier) => Object.keys(tier.kinds)))];
  if (names.length === 0) return empty('No environment kind was run.');
  const columns: Column[] = [
    { heading: 'kind', align: 'text' },
    { heading: 'environments', unit: 'at most' },
    { heading: 'episodes', unit: 'all tiers' },
    { heading: 'length', unit: 'steps, last tier' },
    ...record.tiers.map((tier) => ({ heading: formatCount(tier.envs), unit: 'mean return' })),
  ];
  const rows = names.map((name): Cell[] => {
    const results = record.tiers.flatMap((tier) => tier.kinds[name] ?? []);
    const { kind, version } = record.env_kinds[name] ?? { kind: results[0]?.kind ?? name, version: MISSING };
    return [
      { html: `${escapeHtml(name, 80)} <small class="quiet">${escapeHtml(kind === name ? version : `${kind} ${version}`)}</small>` },
      formatCount(Math.max(...results.map((result) => result.envs))),
      formatCount(results.reduce((sum, result) => sum + result.episodes, 0)),
      formatReturn(results.at(-1)?.length_mean),
      ...record.tiers.map((tier) => formatReturn(tier.kinds[name]?.return_mean)),
    ];
  });
  return `${renderTable('Returns by kind and tier', columns, rows)}${note(DEFINITIONS.returns)}`;
}

export function balanceSection({ record }: ReportModel): string {
  const parts = [
    ...record.tiers.map((tier) => ({ name: oneLine(tier.label, 80), balance: tier.balance })),
    ...(record.balance === null ? [] : [{ name: 'whole run', balance: record.balance }]),
  ];
  if (parts.length === 0) return empty('Nothing was counted.');
  const sums = parts.map((part) => ({ ...part, ...sumBalance(part.balance) }));
  const all = [...new Set(sums.flatMap((sum) => sum.terms.map((term) => term.name)))];
  const terms = all.filter((name, i) => i === 0 || sums.some((sum) => sum.terms.some((term) => term.name === name && term.count !== 0)));
  const zero = all.filter((name) => !terms.includes(name));
  const columns: Column[] = [
    { heading: 'tier', align: 'text' },
    { heading: 'published', unit: 'of it carried in' },
    ...terms.map((name, i) => {
      const drop = /^dropped \((.*)\)$/.exec(name)?.[1];
      const heading = `${i === 0 ? '=' : '+'} ${drop ?? name}`;
      return drop === undefined ? { heading } : { heading, unit: 'dropped' };
    }),
    { heading: 'left over', unit: 'must be 0' },
  ];
  const rows = sums.map((sum): Cell[] => [
    sum.name,
    {
      html: `${formatCount(sum.published)}${sum.balance.carried_in === 0 ? '' : `<br><span class="quiet">${formatCount(sum.balance.carried_in)}</span>`}`,
      className: 'sum',
    },
    ...terms.map((name) => {
      const count = sum.terms.find((term) => term.name === name)?.count;
      return count === 0 || count === undefined ? quiet(formatCount(count)) : formatCount(count);
    }),
    { html: `<span class="pill ${sum.gap === 0 ? 'valid' : 'invalid'}">${formatCount(sum.gap)}</span>` },
  ]);
  const total = sums.at(-1);
  const written =
    total === undefined
      ? ''
      : `${formatCount(total.published)} published = ${total.terms
          .filter((term, i) => i === 0 || term.count !== 0)
          .map((term) => `${formatCount(term.count)} ${term.name}`)
          .join(' + ')}${total.gap === 0 ? '' : `, ${formatCount(total.gap)} unaccounted for`}`;
  return `<p>${escapeHtml(`${total?.name === 'whole run' ? 'Whole run' : `Tier ${total?.name ?? ''}`}: ${written}.`)}</p>${renderTable('Balance of frames', columns, rows)}${note(DEFINITIONS.balance, ...(zero.length === 0 ? [] : [`0 everywhere: ${zero.join(', ')}`]))}`;
}

export function deathsSection({ record }: ReportModel): string {
  const count = record.tiers.reduce((sum, tier) => sum + tier.restarts, 0);
  const restarts = `${formatCount(count)} restart${count === 1 ? '' : 's'}`;
  if (record.deaths.length === 0) return empty(`No process died; ${restarts}.`);
  const columns: Column[] = [
    { heading: 'process', align: 'text' },
    { heading: 'at', unit: 'run time' },
    { heading: 'cause', align: 'wide' },
    { heading: 'last env' },
    { heading: 'last operation', align: 'text' },
    { heading: 'restarted', align: 'text' },
  ];
  const shown = showFirst(record.deaths, 'deaths');
  const rows = shown.items.map((death): Cell[] => [
    `${death.role}${death.worker === null ? '' : ` ${death.worker}`}${death.pid === null ? '' : ` (pid ${death.pid})`}`,
    formatSeconds(death.run_s),
    death.cause,
    death.last_env_id === null || death.last_env_id < 0 ? MISSING : formatCount(death.last_env_id),
    death.last_operation ?? MISSING,
    death.restarted ? 'yes' : 'no',
  ]);
  const tails = record.deaths
    .filter((death) => death.stderr_tail.trim() !== '')
    .slice(-MAX_TAILS)
    .map(
      (death) =>
        `<details open><summary>stderr of ${escapeHtml(death.role)}${death.worker === null ? '' : ` ${death.worker}`}</summary><pre>${escapeLines(death.stderr_tail)}</pre></details>`,
    );
  return `${renderTable('Deaths', columns, rows)}${tails.join('')}${note(`${restarts} in all`, ...(shown.rest === '' ? [] : [shown.rest]), ...(tails.length < MAX_TAILS ? [] : [`stderr of the last ${MAX_TAILS} shown`]))}`;
}

export function preflightSection({ record }: ReportModel): string {
  if (record.preflight.length === 0) return empty('Pre-flight was not run.');
  const columns: Column[] = [
    { heading: 'check', align: 'text' },
    { heading: 'needed', align: 'text' },
    { heading: 'found', align: 'text' },
    { heading: 'result', align: 'wide' },
  ];
  const rows = record.preflight.map((check): Cell[] => [
    check.check,
    check.needed,
    check.found,
    {
      html: `<span class="pill ${check.ok ? 'valid' : 'invalid'}">${check.ok ? 'ok' : 'refused'}</span>${check.ok || check.advice === '' ? '' : ` ${escapeHtml(check.advice)}`}`,
    },
  ]);
  return renderTable('Pre-flight', columns, rows);
}

export function machineSection({ record }: ReportModel): string {
  const { machine, run, learner, events } = record;
  const commit = run.git_commit === null ? '' : `, commit ${run.git_commit.slice(0, 12)}`;
  const facts: (readonly [string, string])[] = [
    ['processor', `${machine.cpu_model}, ${formatCount(machine.cores)} core${machine.cores === 1 ? '' : 's'}`],
    ['memory', formatBytes(machine.memory_bytes)],
    ['system', machine.os],
    ['kernel', `Linux ${machine.kernel}`],
    ['libraries', `Node ${machine.node}, ${machine.libc}`],
    ['host', `${machine.hostname_hash} (hash of its name)`],
    ['learner', learner.backend === null ? learner.mode : `${learner.mode} on ${learner.backend} ${learner.backend_version ?? ''}`],
    ['envladder', `${run.envladder_version}${commit}`],
    ['started', formatInstant(run.started_at)],
    ['ended', run.ended_at === null ? MISSING : `${formatInstant(run.ended_at)}, after ${formatSeconds(run.seconds)}`],
    ['checkpoints', `${formatCount(record.checkpoints.length)}${run.resumed_from === null ? '' : `, resumed from ${run.resumed_from}`}`],
    ['events', `${formatCount(events.written)} written, ${formatCount(events.dropped)} dropped`],
  ];
  return `<dl class="facts">${facts.map(([name, fact]) => `<div><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(fact)}</dd></div>`).join('')}</dl>${loadTable(record)}`;
}

/** Who else used the CPUs; empty for records that do not say. */
function loadTable({ tiers }: RunRecord): string {
  const shown = showFirst(
    tiers.flatMap(({ label, machine_load: load }) => (load === null ? [] : [{ label, load }])),
    'tiers',
  );
  if (shown.items.length === 0) return '';
  const columns: Column[] = [
    { heading: 'tier', align: 'text' },
    { heading: 'used by others', unit: 'share of CPU time' },
    { heading: 'stolen', unit: 'by the hypervisor' },
    { heading: 'throttled', unit: 'times' },
    { heading: 'core frequency', unit: 'end over start' },
  ];
  const rows = shown.items.map(({ label, load }) => [
    oneLine(label, 80),
    formatPercent(load.foreign_share),
    formatPercent(load.steal_share),
    formatCount(load.throttle_events),
    formatPercent(load.frequency_ratio),
  ]);
  return `<div class="gap"></div>${renderTable('Load of the machine by tier', columns, rows)}${note(DEFINITIONS.load, ...(shown.rest === '' ? [] : [shown.rest]))}`;
}

export function reproduceSection(record: RunRecord): string {
  const whole = JSON.stringify(record.plan, null, 2);
  const plan = whole.length <= MAX_PLAN_CHARS ? whole : `${whole.slice(0, MAX_PLAN_CHARS)}\n... the rest is in run.json`;
  return `<pre>${escapeLines(record.run.command)}</pre><details><summary>The resolved plan</summary><pre>${escapeLines(plan)}</pre></details>`;
}

/** Tiers whose measured time began. */
export function measuredTiers(record: RunRecord): TierResult[] {
  return record.tiers.filter((tier) => tier.seconds > 0);
}
