// The table of contents of `envladder claims`: every claim there is, in the order of the page.
import type { Claim } from './claim.js';
import { align64 } from './rows/align-64.js';
import { batch12ms } from './rows/batch-1-2ms.js';
import { dormant1pct } from './rows/dormant-1pct.js';
import { epsPpo } from './rows/eps-ppo.js';
import { fifoHang } from './rows/fifo-hang.js';
import { flipSafe } from './rows/flip-safe.js';
import { gpu90 } from './rows/gpu-90.js';
import { heartbeat3 } from './rows/heartbeat-3.js';
import { ipcsCron } from './rows/ipcs-cron.js';
import { json3ms } from './rows/json-3ms.js';
import { keepalive0 } from './rows/keepalive-0.js';
import { lockVsFlip } from './rows/lock-vs-flip.js';
import { mem18gb } from './rows/mem-18gb.js';
import { pipeline5ms } from './rows/pipeline-5ms.js';
import { rewardNorm } from './rows/reward-norm.js';
import { ring87mb } from './rows/ring-87mb.js';
import { rtt01ms } from './rows/rtt-0-1ms.js';
import { sigusr1 } from './rows/sigusr1.js';
import { start42s } from './rows/start-42s.js';
import { tier24pct } from './rows/tier-24pct.js';
import { totals } from './rows/totals.js';
import { weight22pct } from './rows/weight-22pct.js';

export const ALL_CLAIMS: readonly Claim[] = [
  start42s,
  flipSafe,
  lockVsFlip,
  align64,
  batch12ms,
  mem18gb,
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
  tier24pct,
  gpu90,
  json3ms,
  rtt01ms,
  totals,
];
