// report.md: the run as a page for pull requests and terminals. Same figures as report.html, without the drawings. Pure.
import type { Death, RunRecord } from '../../harness/contract/run-record.js';
import { healthMarkdown } from '../health/health-markdown.js';
import type { ReportModel } from '../model.js';
import { formatBytes, formatCount, formatMicros, formatReturn, formatSeconds, MISSING, oneLine } from '../quantity.js';
import { sumBalance } from '../stats/balance-sum.js';
import { DEFINITIONS } from '../stats/definitions.js';
import { headline, stateText } from '../stats/headline.js';
import { formatAmount, loadText, missedObjectives, missedText, objectiveRows, objectivesText, SLO_WORDS } from '../stats/objectives.js';
import { MAX_ROWS, type Shown, showFirst } from '../stats/shown.js';
import { ladderColumns } from './ladder-columns.js';
import { code, inert, table } from './markdown-text.js';
import { rigMarkdown } from './rig-section.js';
import { reasonsOf } from './terminal.js';

/** The rest of a list, as a line of its own. */
const restLine = ({ rest }: Shown<unknown>): string => (rest === '' ? '' : `\n\n${rest}.`);

/** Verdict, headline, reasons, missed objectives and warnings: the start of every Markdown page. */
export function verdictLines(record: RunRecord): string {
  const reasons = showFirst(reasonsOf(record), 'reasons');
  const warnings = showFirst(record.warnings, 'warnings');
  const advised = (place: string, { code: name, message, advice }: RunRecord['warnings'][number]) =>
    `- ${inert(`${place}${message}`)} (${code(name)})${advice === '' ? '' : `  \n  ${inert(advice)}`}`;
  const slos = objectivesText(record);
  const missed = showFirst(missedObjectives(record), 'missed objectives');
  return [
    `**${record.verdict === 'valid' ? 'VALID' : 'INVALID'}**: run ${stateText(record)}, exit code ${record.exit_code}.`,
    '',
    headline(record),
    ...(reasons.items.length > 0 ? ['', ...reasons.items.map(([place, reason]) => advised(place, reason))] : []),
    ...(slos === '' ? [] : ['', `**${SLO_WORDS[record.slo_verdict]}**: ${slos}.`]),
    ...(missed.items.length > 0
      ? ['', ...missed.items.map(([tier, slo]) => `- tier ${inert(tier.label, 40)}: ${inert(missedText(slo))}`)]
      : []),
    ...(warnings.items.length > 0 ? ['', 'Warnings:', '', ...warnings.items.map((warning) => advised('', warning))] : []),
  ]
    .join('\n')
    .concat(...[reasons, missed, warnings].map(restLine));
}

/** A row per objective, a column per tier; empty without objectives. */
export function objectivesTable(record: RunRecord): string {
  const rows = objectiveRows(record);
  if (rows.length === 0) return '';
  return table(
    [['objective', 'left'], ...record.tiers.map((tier) => [inert(tier.label, 80), 'right'] as const)],
    rows.map(({ slo, results }) => [
      inert(slo, 120),
      ...results.map((result) =>
        result === undefined ? '' : result.verdict === 'missed' ? `**missed** ${formatAmount(result.value)}` : formatAmount(result.value),
      ),
    ]),
  );
}

export function ladderTable({ record }: ReportModel): string {
  if (record.tiers.length === 0) return 'No tier was started.';
  const columns = ladderColumns(record.tiers);
  return table(
    [['tier', 'left'], ...columns.map(({ heading, unit }) => [`${heading} (${unit})`, 'right'] as const), ['verdict', 'left']],
    record.tiers.map((tier) => [inert(tier.label, 80), ...columns.map(({ cell }) => cell(tier)), tier.validity.verdict]),
  );
}

function latencySection({ record }: ReportModel): string {
  const ranks = [
    ['p50', 'p50'],
    ['p90', 'p90'],
    ['p99', 'p99'],
    ['p99.9', 'p999'],
    ['max', 'max'],
  ] as const;
  return table(
    [['tier', 'left'], ...ranks.map(([name]) => [name, 'right'] as const)],
    record.tiers.map((tier) => [inert(tier.label, 80), ...ranks.map(([, key]) => formatMicros(tier.step_latency_us[key]))]),
  );
}

function memorySection({ record }: ReportModel): string {
  const roles = [...new Set(record.tiers.flatMap((tier) => Object.keys(tier.memory)))];
  return table(
    [['tier', 'left'], ...roles.map((role) => [inert(role, 40), 'right'] as const), ['shared segments', 'right']],
    record.tiers.map((tier) => [
      inert(tier.label, 80),
      ...roles.map((role) => formatBytes(tier.memory[role]?.pss_bytes)),
      formatBytes(tier.shm_bytes),
    ]),
  );
}

function kindsSection({ record }: ReportModel): string {
  return table(
    [
      ['tier', 'left'],
      ['kind', 'left'],
      ['envs', 'right'],
      ['episodes', 'right'],
      ['mean return', 'right'],
      ['mean length', 'right'],
    ],
    record.tiers.flatMap((tier) =>
      Object.entries(tier.kinds).map(([name, kind]) => [
        inert(tier.label, 80),
        name === kind.kind ? inert(name, 80) : `${inert(name, 80)} (${inert(kind.kind, 80)})`,
        formatCount(kind.envs),
        formatCount(kind.episodes),
        formatReturn(kind.return_mean),
        formatReturn(kind.length_mean),
      ]),
    ),
  );
}

function balanceSection({ record }: ReportModel): string {
  const parts = [
    ...record.tiers.map((tier) => [`tier ${tier.label}`, tier.balance] as const),
    ...(record.balance === null ? [] : [['whole run', record.balance] as const]),
  ];
  const lines = parts.map(([name, balance]) => {
    const { published, terms, gap } = sumBalance(balance);
    const sum = terms.map((term) => `${formatCount(term.count)} ${inert(term.name, 60)}`).join(' + ');
    return `- ${inert(name, 90)}: ${formatCount(published)} published = ${sum}${gap === 0 ? '' : ` + **${formatCount(gap)} unaccounted for**`}`;
  });
  return lines.length === 0 ? 'Nothing was counted.' : lines.join('\n');
}

function deathsSection({ record }: ReportModel): string {
  if (record.deaths.length === 0) return 'No process died.';
  const shown = showFirst(record.deaths, 'deaths');
  return `${deathsTable(shown.items)}${restLine(shown)}`;
}

function deathsTable(deaths: readonly Death[]): string {
  return table(
    [
      ['at', 'right'],
      ['process', 'left'],
      ['cause', 'left'],
      ['last env', 'right'],
      ['last operation', 'left'],
      ['restarted', 'left'],
    ],
    deaths.map((death) => [
      formatSeconds(death.run_s),
      `${death.role}${death.worker === null ? '' : ` ${death.worker}`}`,
      inert(death.cause, 120),
      formatCount(death.last_env_id),
      inert(death.last_operation ?? MISSING, 40),
      death.restarted ? 'yes' : 'no',
    ]),
  );
}

function preflightSection({ record }: ReportModel): string {
  if (record.preflight.length === 0) return 'Not run.';
  return table(
    [
      ['check', 'left'],
      ['needed', 'right'],
      ['found', 'right'],
      ['result', 'left'],
    ],
    record.preflight.map((check) => [
      inert(check.check, 80),
      inert(check.needed, 120),
      inert(check.found, 120),
      check.ok ? 'ok' : `**refused**: ${inert(check.advice)}`,
    ]),
  );
}

function machineSection({ record }: ReportModel): string {
  const { machine, run, learner } = record;
  const facts: (readonly [string, string])[] = [
    ['processor', `${inert(machine.cpu_model)}, ${formatCount(machine.cores)} cores`],
    ['memory', formatBytes(machine.memory_bytes)],
    ['system', `${inert(machine.os)}, Linux ${inert(machine.kernel)}, ${inert(machine.libc)}`],
    ['node', inert(machine.node)],
    [
      'learner',
      learner.backend === null
        ? inert(learner.mode)
        : `${inert(learner.mode)} on ${inert(learner.backend)} ${inert(learner.backend_version ?? '')}`,
    ],
    ['envladder', `${inert(run.envladder_version)}${run.git_commit === null ? '' : `, commit ${inert(run.git_commit.slice(0, 12))}`}`],
    ...record.tiers
      .filter((tier) => tier.machine_load !== null)
      .slice(0, MAX_ROWS)
      .map((tier) => [`tier ${inert(tier.label, 40)}`, loadText(tier.machine_load)] as const),
    ['run', `${inert(run.id)}, ${inert(run.started_at)} to ${inert(run.ended_at ?? MISSING)}, ${formatSeconds(run.seconds)}`],
  ];
  return table(
    [
      ['', 'left'],
      ['', 'left'],
    ],
    facts,
  );
}

export function reproduceBlock(record: RunRecord): string {
  return ['```sh', oneLine(record.run.command, 4_000).replace(/`{3,}/g, (run) => run.replace(/`/g, '\u02cb')), '```'].join('\n');
}

/** The whole page, ending in a newline. */
export function renderMarkdown(model: ReportModel): string {
  const slos = objectivesTable(model.record);
  const health = healthMarkdown(model);
  const rig = rigMarkdown(model.record);
  const sections: (readonly [string, string])[] = [
    ['Verdict', verdictLines(model.record)],
    ...(slos === '' ? [] : ([['Objectives', `${slos}\n\n${MISSING} = not measured`]] as const)),
    [
      'Ladder',
      `${ladderTable(model)}\n\n${[DEFINITIONS.sampling, DEFINITIONS.training, DEFINITIONS.goodput, DEFINITIONS.firstBatch, DEFINITIONS.allLive, DEFINITIONS.fill].map((text) => `- ${text}`).join('\n')}\n- ${MISSING} = not measured`,
    ],
    ['Step latency', `${latencySection(model)}\n\n${DEFINITIONS.latency}`],
    ['Memory', `${memorySection(model)}\n\n${DEFINITIONS.memory}`],
    ['Learning', `${kindsSection(model)}\n\n${DEFINITIONS.returns}`],
    ['Balance', `${balanceSection(model)}\n\n${DEFINITIONS.balance}`],
    ...(health === '' ? [] : ([['Health', health]] as const)),
    ['Deaths and restarts', deathsSection(model)],
    ['Pre-flight', preflightSection(model)],
    ['Machine', machineSection(model)],
    ...(rig === '' ? [] : ([['Rig', rig]] as const)),
    ['Reproduce', reproduceBlock(model.record)],
  ];
  return `# envladder run ${inert(model.record.run.id)}\n${sections.map(([title, body]) => `\n## ${title}\n\n${body}\n`).join('')}`;
}
