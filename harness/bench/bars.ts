// Every row a bench may print: its unit and the bar it must reach, from the project's issue. One table, so that a name in the JSON, in
// docs/benchmarks.md and in a gate can never mean two things. `null` bars are figures worth knowing that nobody promised.

export interface RowSpec {
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  readonly bar: number | null;
}

const higher = (unit: string, bar: number | null = null): RowSpec => ({ unit, better: 'higher', bar });
const lower = (unit: string, bar: number | null = null): RowSpec => ({ unit, better: 'lower', bar });

export const ROWS = {
  noop_7000_sps: higher('steps/s', 3_000_000),
  framework_ns_per_step: lower('ns', 250),
  framework_cpu_ns_per_step: lower('ns'),
  noop_worker_cpu_ns_per_step: lower('ns'),
  noop_consumer_cpu_ns_per_step: lower('ns'),
  cartpole_7000_sps: higher('steps/s'),
  cartpole_bare_sps: higher('steps/s'),
  cartpole_vs_bare: higher('ratio', 0.5),
  gather_rgb_vs_memcpy: lower('ratio', 1.3),
  gather_rgb_gb_s: higher('GB/s'),
  memcpy_rgb_gb_s: higher('GB/s'),
  field_7000_obs_s: higher('obs/s', 15_000),
  field_7000_gb_s: higher('GB/s'),
  field_7000_pooled_obs_s: higher('obs/s'),
  control_cost_7000_vs_700: lower('ratio', 1.3),
  control_cost_700_cpu_ns: lower('ns'),
  control_cost_7000_cpu_ns: lower('ns'),
  start_noop_7000_s: lower('s', 3),
  start_1ms_7000_s: lower('s', 10),
  group_start_parallel_1ms_s: lower('s'),
  group_start_groups_1ms_s: lower('s'),
  group_start_parallel_100ms_s: lower('s'),
  group_start_groups_100ms_s: lower('s'),
  group_wake_not_started_ms: lower('ms'),
  group_wake_frozen_ms: lower('ms'),
  group_wake_stopped_ms: lower('ms'),
  group_wake_throttled_ms: lower('ms'),
  group_dormant_pss_mb: lower('MB'),
  death_noticed_ms: lower('ms', 1000),
  hang_noticed_late_ms: lower('ms', 50),
  recovery_100ms_s: lower('s', 1),
  recovery_1000_envs_s: lower('s', 5),
  fds_per_100_envs: lower('fds', 1),
  bookkeeping_kb_per_100_envs: lower('kB', 64),
  live_page_cost: higher('ratio', 0.99),
  live_look_ms: lower('ms', 10),
  straggler_goodput_ratio: higher('ratio', 0.9),
  straggler_saturated_ratio: higher('ratio'),
  ppo_cartpole_1024_sps: higher('steps/s', 25_000),
  ppo_cartpole_1024_sps_tanh: higher('steps/s', 15_000),
  ppo_cartpole_1024_sps_tfjs_node: higher('steps/s', 60_000),
  claim_ns_per_slot: lower('ns'),
  publish_ns_per_slot: lower('ns'),
  collect_ns_per_slot: lower('ns'),
  act_ns_per_slot: lower('ns'),
  addon_call_ns: lower('ns'),
  copied_bytes_per_step: lower('B', 256),
  heap_bytes_per_step: lower('B', 0),
  io_calls_per_million_steps: lower('calls', 0),
  messages_per_million_steps: lower('messages', 0),
  seed_reseat_ns: lower('ns'),
  report_render_ms: lower('ms'),
  learn_cartpole_475_seeds: higher('of 5', 5),
  learn_cartpole_475_steps: lower('steps'),
  learn_cartpole_475_s: lower('s'),
  learn_cartpole_475_seeds_tfjs_node: higher('of 5', 5),
  learn_cartpole_475_steps_tfjs_node: lower('steps'),
  learn_cartpole_475_s_tfjs_node: lower('s'),
} as const satisfies Record<string, RowSpec>;

export type RowName = keyof typeof ROWS;

/** Whether `value` reaches the bar of row `name`; null where there is no bar or no value. */
export function meetsBar(name: RowName, value: number | null): boolean | null {
  const { bar, better }: RowSpec = ROWS[name];
  if (bar === null || value === null) return null;
  return better === 'higher' ? value >= bar : value <= bar;
}
