// claims.md: the table of claims.html for a repository or a pull request. Pure.
import { formatInstant } from '../quantity.js';
import { code, inert, table } from '../render/markdown-text.js';
import {
  countsSentence,
  formatMiddle,
  formatRatio,
  loadWarning,
  loadWords,
  machineSentence,
  ruleSentence,
  saidFigure,
  sidesOf,
  sizeWarning,
  testsWords,
} from './claims-words.js';
import type { JudgedClaim, JudgedClaims } from './judge-claims.js';

const row = (claim: JudgedClaim): string[] => {
  const shown = sidesOf(claim);
  const sides = shown?.sides ?? [];
  return [
    `[${claim.entry.id}](#${claim.entry.id.replaceAll('.', '')})`,
    inert(saidFigure(claim)),
    sides.map(({ side, middle }) => `${inert(side.name)} ${inert(formatMiddle(middle))}`).join('; ') || '–',
    inert(shown?.metric.metric.unit ?? ''),
    inert(formatRatio(claim.ratio)),
    String(claim.n),
    claim.verdict === 'held' ? '**held**' : claim.verdict,
  ];
};

function details(claim: JudgedClaim): string[] {
  const { entry } = claim;
  const measured = claim.metrics.flatMap(({ metric, sides }) =>
    sides
      .filter(({ middle }) => middle !== null)
      .map(({ side, middle, n }) => [inert(metric.name), inert(side.name), inert(formatMiddle(middle)), inert(metric.unit), String(n)]),
  );
  return [
    '',
    `### ${entry.id}`,
    '',
    `The account: ${inert(entry.said.text)}.`,
    `**${claim.verdict}**: ${inert(claim.why)}.`,
    '',
    inert(entry.question),
    '',
    `Rule, fixed before the run (${testsWords(claim)}): ${inert(entry.registered.rule)}.`,
    ...claim.rules.map((rule) => `- ${inert(ruleSentence(rule))}`),
    '',
    inert(entry.registered.method),
    ...entry.registered.sides.map((side) => `- ${code(side.name)} (${side.role}): ${inert(side.what)}`),
    ...(measured.length === 0
      ? []
      : [
          '',
          table(
            [
              ['metric', 'left'],
              ['side', 'left'],
              ['measured [95 %]', 'right'],
              ['unit', 'left'],
              ['n', 'right'],
            ],
            measured,
          ),
        ]),
    '',
    ...Object.entries(entry.conditions).map(([name, value]) => `- ${inert(name)}: ${inert(value)}`),
    ...entry.notes.map((note) => `- ${inert(note)}`),
    ...[loadWords(claim)].filter((words) => words !== '').map((words) => `- ${words}; ${entry.seconds} s`),
  ];
}

/** The whole page, ending in a newline. */
export function renderClaimsMarkdown(judged: JudgedClaims): string {
  const { record, claims } = judged;
  const warnings = [sizeWarning(record.size), loadWarning(judged)].filter((warning) => warning !== '');
  const lines = [
    '# The claims of the account, measured here',
    '',
    `${countsSentence(judged)}.${record.interrupted ? ' Interrupted: claims are missing.' : ''}`,
    `Machine: ${inert(machineSentence(judged))}.`,
    ...warnings.flatMap((warning) => ['', `> ${warning}`]),
    '',
    table(
      [
        ['claim', 'left'],
        ['account', 'right'],
        ['measured [95 %]', 'left'],
        ['unit', 'left'],
        ['ratio [95 %]', 'right'],
        ['n', 'right'],
        ['verdict', 'left'],
      ],
      claims.map(row),
    ),
    ...claims.flatMap(details),
    '',
    `Rendered from claims.json (schema ${record.schema_version}), ended ${formatInstant(record.ended_at)}. How to read it: docs/claims.md.`,
  ];
  return `${lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()}\n`;
}
