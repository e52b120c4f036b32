// The table of contents of `envladder claims`: every claim there is, in the order of the page.
import type { Claim } from './claim.js';
import { batch12ms } from './rows/batch-1-2ms.js';
import { dormant1pct } from './rows/dormant-1pct.js';
import { epsPpo } from './rows/eps-ppo.js';
import { fifoHang } from './rows/fifo-hang.js';
import { heartbeat3 } from './rows/heartbeat-3.js';
import { ipcsCron } from './rows/ipcs-cron.js';
import { keepalive0 } from './rows/keepalive-0.js';
import { pipeline5ms } from './rows/pipeline-5ms.js';
import { rewardNorm } from './rows/reward-norm.js';
import { ring87mb } from './rows/ring-87mb.js';
import { sigusr1 } from './rows/sigusr1.js';
import { weight22pct } from './rows/weight-22pct.js';

export const ALL_CLAIMS: readonly Claim[] = [
  batch12ms,
  heartbeat3,
  sigusr1,
  pipeline5ms,
  keepalive0,
  fifoHang,
  dormant1pct,
  ipcsCron,
  ring87mb,
  weight22pct,
  rewardNorm,
  epsPpo,
];
