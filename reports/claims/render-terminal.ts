// Claims for a terminal: one table, then the rules of each claim with what was found. Pure.
import { textColumns } from '../compare/text-columns.js';
import { wrapText } from '../compare/wrap-text.js';
import { oneLine } from '../quantity.js';
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
} from './claims-words.js';
import type { ClaimVerdict, JudgedClaim, JudgedClaims } from './judge-claims.js';

const COLOURS: Readonly<Record<ClaimVerdict, string>> = { held: '32', 'did not hold': '31', 'not testable here': '33', failed: '35' };

function paint(verdict: ClaimVerdict, colour: boolean): string {
  return colour ? `\u001b[${COLOURS[verdict]}m${verdict}\u001b[0m` : verdict;
}

/** The headline metric's two first sides. */
function sidesShown(claim: JudgedClaim): [string, string, string] {
  const shown = sidesOf(claim);
  const [first, second] = shown?.sides ?? [];
  const cell = (side: typeof first): string => (side === undefined ? '–' : `${side.side.name} ${formatMiddle(side.middle)}`);
  return [oneLine(cell(first)), oneLine(cell(second)), oneLine(shown?.metric.metric.unit ?? '')];
}

export function renderClaimsTerminal(judged: JudgedClaims, colour: boolean): string {
  const columns = (['claim', 'account', 'one side', 'another', 'unit', 'ratio', 'n', 'verdict'] as const).map((heading) => ({
    heading,
    align: heading === 'n' || heading === 'account' ? ('right' as const) : ('left' as const),
  }));
  const rows = judged.claims.map((claim) => [
    claim.entry.id,
    oneLine(saidFigure(claim)),
    ...sidesShown(claim),
    formatRatio(claim.ratio),
    String(claim.n),
    paint(claim.verdict, colour),
  ]);
  const details = judged.claims.flatMap((claim) => [
    '',
    `${claim.entry.id}: ${paint(claim.verdict, colour)}, ${oneLine(claim.why)}`,
    ...claim.rules.flatMap((rule) => wrapText(oneLine(ruleSentence(rule)), 112).map((line, i) => `${i === 0 ? '  - ' : '    '}${line}`)),
    ...[loadWords(claim)].filter((words) => words !== '').map((words) => `    ${words}`),
  ]);
  const warnings = [sizeWarning(judged.record.size), loadWarning(judged)].filter((warning) => warning !== '');
  return [
    ...textColumns(columns, rows),
    ...details,
    '',
    countsSentence(judged) + (judged.record.interrupted ? '; interrupted, the rest is missing' : ''),
    ...wrapText(oneLine(machineSentence(judged)), 116),
    ...warnings.flatMap((warning) => wrapText(warning, 116)),
  ].join('\n');
}
