// Every bench, in the order its rows stand in the table.
import type { Bench } from './bench.js';
import { cartpoleBench } from './suites/cartpole-bench.js';
import { controlCostBench } from './suites/control-cost-bench.js';
import { countsBench } from './suites/counts-bench.js';
import { dataPathBench } from './suites/data-path-bench.js';
import { fieldBench } from './suites/field-bench.js';
import { footprintBench } from './suites/footprint-bench.js';
import { gatherBench } from './suites/gather-bench.js';
import { groupsBench } from './suites/groups-bench.js';
import { learningBenches } from './suites/learning-bench.js';
import { livePageBench } from './suites/live-page-bench.js';
import { noopBench } from './suites/noop-bench.js';
import { ppoBenches } from './suites/ppo-bench.js';
import { recoveryBench } from './suites/recovery-bench.js';
import { reportBench } from './suites/report-bench.js';
import { seedStreamBench } from './suites/seed-stream-bench.js';
import { startBench } from './suites/start-bench.js';
import { stragglerGoodputBench, stragglerSaturatedBench } from './suites/straggler-bench.js';

export const ALL_BENCHES: readonly Bench[] = [
  noopBench,
  cartpoleBench,
  fieldBench,
  controlCostBench,
  startBench,
  groupsBench,
  recoveryBench,
  footprintBench,
  livePageBench,
  reportBench,
  stragglerSaturatedBench,
  gatherBench,
  dataPathBench,
  countsBench,
  seedStreamBench,
  ...ppoBenches,
  stragglerGoodputBench,
  ...learningBenches,
];
