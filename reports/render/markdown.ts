// report.md: the run as a page for pull requests and terminals. Same figures as report.html, without the drawings. Pure.
import type { RunRecord } from '../../harness/contract/run-record.js';
import type { ReportModel } from '../model.js';
import { formatBytes, formatCount, formatMicros, formatReturn, formatSeconds, MISSING, oneLine } from '../quantity.js';
import { sumBalance } from '../stats/balance-sum.js';
import { DEFINITIONS } from '../stats/definitions.js';
import { headline, stateText } from '../stats/headline.js';
import { LADDER_COLUMNS } from './ladder-columns.js';
import { reasonsOf } from './terminal.js';

/** Text from outside as inert Markdown: no markup, no table cell it could end, no HTML. */
function inert(text: string, maxChars?: number): string {
  return oneLine(text, maxChars)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[\\`*_{}[\]()#+!|~]/g, '\\$&');
}

/** A code span that its content cannot leave. */
function code(text: string): string {
  const clean = oneLine(text, 2_000);
  const fence = '`'.repeat(Math.max(0, ...[...clean.matchAll(/`+/g)].map((run) => run[0].length)) + 1);
  const space = clean.startsWith('`') || clean.endsWith('`') ? ' ' : '';
  return `${fence}${space}${clean}${space}${fence}`;
}

type Align = 'left' | 'right';

function table(headings: readonly (readonly [string, Align])[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(headings.map(([heading]) => heading)),
    line(headings.map(([, align]) => (align === 'left' ? ':--' : '--:'))),
    ...rows.map(line),
  ].join('\n');
}

function verdictSection({ record }: ReportModel): string {
  const reasons = reasonsOf(record).map(
    ([place, reason]) =>
      `- ${inert(`${place}${reason.message}`)} (${code(reason.code)})${reason.advice === '' ? '' : `  \n  ${inert(reason.advice)}`}`,
  );
  return [
    `**${record.verdict === 'valid' ? 'VALID' : 'INVALID'}**: run ${stateText(record)}, exit code ${record.exit_code}.`,
    '',
    headline(record),
    ...(reasons.length > 0 ? ['', ...reasons] : []),
  ].join('\n');
}

function ladderSection({ record }: ReportModel): string {
  if (record.tiers.length === 0) return 'No tier was started.';
  return table(
    [['tier', 'left'], ...LADDER_COLUMNS.map(({ heading, unit }) => [`${heading} (${unit})`, 'right'] as const), ['verdict', 'left']],
    record.tiers.map((tier) => [inert(tier.label, 80), ...LADDER_COLUMNS.map(({ cell }) => cell(tier)), tier.validity.verdict]),
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
  return table(
    [
      ['at', 'right'],
      ['process', 'left'],
      ['cause', 'left'],
      ['last env', 'right'],
      ['last operation', 'left'],
      ['restarted', 'left'],
    ],
    record.deaths.map((death) => [
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

function reproduceSection(record: RunRecord): string {
  return ['```sh', oneLine(record.run.command, 4_000).replace(/`{3,}/g, (run) => run.replace(/`/g, '\u02cb')), '```'].join('\n');
}

/** The whole page, ending in a newline. */
export function renderMarkdown(model: ReportModel): string {
  const sections: (readonly [string, string])[] = [
    ['Verdict', verdictSection(model)],
    [
      'Ladder',
      `${ladderSection(model)}\n\n${[DEFINITIONS.sampling, DEFINITIONS.training, DEFINITIONS.goodput, DEFINITIONS.firstBatch, DEFINITIONS.allLive, DEFINITIONS.fill].map((text) => `- ${text}`).join('\n')}\n- ${MISSING} = not measured`,
    ],
    ['Step latency', `${latencySection(model)}\n\n${DEFINITIONS.latency}`],
    ['Memory', `${memorySection(model)}\n\n${DEFINITIONS.memory}`],
    ['Learning', `${kindsSection(model)}\n\n${DEFINITIONS.returns}`],
    ['Balance', `${balanceSection(model)}\n\n${DEFINITIONS.balance}`],
    ['Deaths and restarts', deathsSection(model)],
    ['Pre-flight', preflightSection(model)],
    ['Machine', machineSection(model)],
    ['Reproduce', reproduceSection(model.record)],
  ];
  return `# envladder run ${inert(model.record.run.id)}\n${sections.map(([title, body]) => `\n## ${title}\n\n${body}\n`).join('')}`;
}
