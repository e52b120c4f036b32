import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meetsBar, ROWS } from '../../harness/bench/bars.js';
import { estimate } from '../../harness/bench/estimate.js';

test('an estimate is the median with the least and greatest window', () => {
  // Goal: one wild window must not move a figure, and its spread must stay visible.
  assert.deepEqual(estimate([5, 1, 1000]), { value: 5, low: 1, high: 1000, runs: 3 });
  assert.deepEqual(estimate([4, 2, 8, 6]), { value: 5, low: 2, high: 8, runs: 4 });
  assert.throws(() => estimate([]), /at least one window/);
});

test('a bar is met from the right side and inclusively', () => {
  // Goal: "at least" and "at most" may never be mixed up, or a regression reads as a success.
  assert.equal(meetsBar('noop_7000_sps', 3_000_000), true);
  assert.equal(meetsBar('noop_7000_sps', 2_999_999), false);
  assert.equal(meetsBar('framework_ns_per_step', 250), true);
  assert.equal(meetsBar('framework_ns_per_step', 250.1), false);
  assert.equal(meetsBar('noop_7000_sps', null), null);
  assert.equal(meetsBar('seed_reseat_ns', 1), null);
});

test('the rows that the project promised carry the promised bars', () => {
  // Goal: a bar cannot be lowered unnoticed.
  const promised = {
    noop_7000_sps: ['higher', 3_000_000],
    framework_ns_per_step: ['lower', 250],
    cartpole_vs_bare: ['higher', 0.5],
    gather_rgb_vs_memcpy: ['lower', 1.3],
    field_7000_obs_s: ['higher', 15_000],
    control_cost_7000_vs_700: ['lower', 1.3],
    start_noop_7000_s: ['lower', 3],
    start_1ms_7000_s: ['lower', 10],
    fds_per_100_envs: ['lower', 1],
    bookkeeping_kb_per_100_envs: ['lower', 64],
    straggler_goodput_ratio: ['higher', 0.9],
    ppo_cartpole_1024_sps: ['higher', 25_000],
    ppo_cartpole_1024_sps_tanh: ['higher', 15_000],
    ppo_cartpole_1024_sps_tfjs_node: ['higher', 60_000],
    learn_cartpole_475_seeds: ['higher', 5],
  } as const;
  for (const [name, [better, bar]] of Object.entries(promised)) {
    const row = ROWS[name as keyof typeof promised];
    assert.deepEqual([row.better, row.bar], [better, bar], name);
  }
});
