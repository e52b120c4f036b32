// The table of contents of the fault matrix: every row there is, in the order of its number.
import type { ChaosRow } from './chaos-row.js';
import { damagedCheckpoint, diskFails, killedInCheckpoint, powerLoss } from './rows/checkpoints.js';
import { peerDies, peerNeverReads, socketRemoved } from './rows/control-socket.js';
import { diskFull, diskSlow } from './rows/disk.js';
import { crashLoop, envHangs, envThrows, logFlood } from './rows/env-faults.js';
import { killedMidFrame, loopBlocked, zombieWriter } from './rows/frame-writers.js';
import { badUpdate, learnerFrozen, learnerKilled } from './rows/learner-faults.js';
import { noDescriptors, noProcesses } from './rows/limits.js';
import { hostilePage } from './rows/live-page.js';
import { clockJumps, pidReuse } from './rows/machine-rows.js';
import { memoryFull, segmentDamaged, staleLeftovers } from './rows/memory-faults.js';
import { hardOom, hostPressure } from './rows/memory-limits.js';
import { redisHintLost, redisWiped } from './rows/redis-contents.js';
import { redisFrozen, redisFull, redisGone, redisHalfOpen } from './rows/redis-outages.js';
import { redisSlowLink } from './rows/redis-slow-link.js';
import { hotReplace } from './rows/replace-worker.js';
import { cgroupMissing, fifoDenied, slowLeak, throttled } from './rows/resources.js';
import { databaseDamaged, sqliteLocked, walStarved } from './rows/sqlite.js';
import { stopTwice, straySignals } from './rows/stop-and-signals.js';
import { everythingKilled, secondSupervisor, supervisorKilled } from './rows/supervisor-killed.js';
import { frozenJustUnder, workerFrozen } from './rows/worker-frozen.js';
import { massDeath, nativeCrash, workerKilled } from './rows/worker-killed.js';

const ROWS: readonly ChaosRow[] = [
  workerKilled,
  killedMidFrame,
  workerFrozen,
  frozenJustUnder,
  zombieWriter,
  envHangs,
  envThrows,
  nativeCrash,
  loopBlocked,
  crashLoop,
  massDeath,
  slowLeak,
  hardOom,
  hostPressure,
  throttled,
  cgroupMissing,
  fifoDenied,
  learnerKilled,
  learnerFrozen,
  supervisorKilled,
  everythingKilled,
  secondSupervisor,
  redisGone(),
  redisFrozen(),
  redisFull(),
  redisHalfOpen,
  redisSlowLink(),
  redisHintLost,
  redisWiped,
  peerDies,
  peerNeverReads,
  socketRemoved,
  memoryFull,
  segmentDamaged,
  staleLeftovers,
  clockJumps,
  pidReuse,
  straySignals,
  hotReplace,
  badUpdate,
  logFlood,
  hostilePage,
  stopTwice,
  diskFull,
  diskSlow,
  diskFails,
  killedInCheckpoint,
  damagedCheckpoint,
  powerLoss,
  sqliteLocked,
  walStarved,
  databaseDamaged,
  noDescriptors,
  noProcesses,
];

export const ALL_ROWS: readonly ChaosRow[] = [...ROWS].sort((a, b) => a.row - b.row);
