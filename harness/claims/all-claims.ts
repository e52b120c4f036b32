// The table of contents of `envladder claims`: every claim there is, in the order of the page.
import type { Claim } from './claim.js';
import { batch12ms } from './rows/batch-1-2ms.js';

export const ALL_CLAIMS: readonly Claim[] = [batch12ms];
