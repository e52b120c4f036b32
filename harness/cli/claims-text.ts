// What `envladder claims` prints before it measures: the claim in the account's words and the rule that will decide it.
import { formatFigure } from '../../reports/claims/claims-words.js';
import type { Claim } from '../claims/claim.js';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';

type Say = (line: string) => void;

/** The pre-registration of one claim. */
export function printRule(claim: Claim, say: Say): void {
  const { rule, rules, tests } = claim.register();
  say(`\n${claim.id}: ${claim.said.text}`);
  say(`  rule (${tests}): ${rule}`);
  for (const each of rules) {
    const of = each.type === 'ratio' ? `${each.side} / ${each.to}` : each.side;
    say(`  - ${each.metric} of ${of} ${each.relation.replace('-', ' ')} ${formatFigure(each.bound)}`);
  }
}

export function printClaimsList(claims: readonly Claim[], say: Say): ExitCode {
  for (const claim of claims) printRule(claim, say);
  return EXIT.good;
}
