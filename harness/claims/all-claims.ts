// The table of contents of `envladder claims`: every claim there is, in the order of the page.
import type { Claim } from './claim.js';
import { batch12ms } from './rows/batch-1-2ms.js';
import { epsPpo } from './rows/eps-ppo.js';
import { rewardNorm } from './rows/reward-norm.js';
import { weight22pct } from './rows/weight-22pct.js';

export const ALL_CLAIMS: readonly Claim[] = [batch12ms, weight22pct, rewardNorm, epsPpo];
