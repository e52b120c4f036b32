// Every bench, in the order its rows stand in the table.
import type { Bench } from './bench.js';
import { seedStreamBench } from './suites/seed-stream-bench.js';

export const ALL_BENCHES: readonly Bench[] = [seedStreamBench];
