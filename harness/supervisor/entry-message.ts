// A mix entry as the children hear of it: its kind with spaces, what it may take down, and how long each operation may take. Pure; made
// by the ladder and the benches before a crew is raised, so that no child reads the plan's defaults for itself.
import type { EntryMessage, OperationDeadlines } from '../contract/messages.js';
import type { Plan } from '../contract/plan.js';
import type { Deadlines, Isolation } from '../contract/plan-health.js';
import type { Spaces } from '../contract/spaces.js';

/** What of a kind matters here. */
export interface EntryKind {
  readonly spaces: Spaces;
  readonly kind: { readonly isolation?: Isolation };
}

/** The entry's own deadlines, else the plan's, else `stepDeadlineSeconds`. */
export function operationDeadlines(
  plan: Pick<Plan, 'stepDeadlineSeconds'> & { readonly health: { readonly deadlines: Deadlines } },
  own: Deadlines = {},
): OperationDeadlines {
  const of = (operation: keyof OperationDeadlines): number =>
    own[operation] ?? plan.health.deadlines[operation] ?? plan.stepDeadlineSeconds;
  return { construct: of('construct'), reset: of('reset'), step: of('step'), close: of('close') };
}

/** `entry` is one of `plan.mix`. */
export function entryMessage(plan: Plan, entry: Plan['mix'][number], { spaces, kind }: EntryKind): EntryMessage {
  return {
    name: entry.name,
    kind: entry.kind,
    config: entry.config,
    spaces,
    isolation: entry.isolation ?? kind.isolation ?? 'inline',
    deadlines: operationDeadlines(plan, entry.deadlines),
  };
}
