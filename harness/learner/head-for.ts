// Which distribution serves which action space.
import type { ActionSpace } from '../contract/spaces.js';
import type { ActionHead } from './action-head.js';
import { categoricalHead } from './categorical-head.js';
import { gaussianHead } from './gaussian-head.js';

/** The head for an action space. */
export function headFor(space: ActionSpace): ActionHead {
  switch (space.type) {
    case 'discrete':
      return categoricalHead([space.n]);
    case 'multi-discrete':
      return categoricalHead(space.nvec);
    case 'box':
      return gaussianHead(space);
  }
}
