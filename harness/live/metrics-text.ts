// The run as Prometheus reads it. A registry of its own, so that nothing else of the process leaks in; filled when it is scraped.
import { Gauge, Registry } from 'prom-client';
import type { LiveStatus } from './live-feed.js';

export interface MetricsText {
  readonly contentType: string;
  /** `status` null: the run has not begun. */
  render(status: LiveStatus | null, events: ReadonlyMap<string, number>): Promise<string>;
}

type Reading = readonly [name: string, help: string, read: (status: LiveStatus) => number];

const READINGS: readonly Reading[] = [
  ['envladder_live_run_seconds', 'Seconds since the run began', (status) => status.runSeconds],
  ['envladder_live_tier', 'Index of the tier that runs, from 0', (status) => status.tier],
  ['envladder_live_tier_envs', 'Envs that the tier plans', (status) => status.envs],
  ['envladder_live_envs', 'Envs that step', (status) => status.live],
  ['envladder_live_quarantined_envs', 'Envs taken out of the run', (status) => status.quarantined],
  ['envladder_live_sampling_steps_per_second', 'Frames published per second, last interval', (status) => status.samplingSps],
  ['envladder_live_training_steps_per_second', 'Transitions trained per second, last interval', (status) => status.trainingSps],
  ['envladder_live_batch_fill_ratio', 'Frames per batch over its limit, last interval', (status) => status.batchFill],
  ['envladder_live_policy_updates', 'Policy updates since the run began', (status) => status.updates],
  ['envladder_live_worker_restarts', 'Worker restarts since the run began', (status) => status.restarts],
  ['envladder_live_memory_bytes', 'Proportional set size of all processes', (status) => status.memoryBytes],
];

export function createMetricsText(): MetricsText {
  const registry = new Registry();
  const registers = [registry];
  const up = new Gauge({ name: 'envladder_live_up', help: '1 while a run is on', registers });
  const gauges = READINGS.map(([name, help, read]) => ({ gauge: new Gauge({ name, help, registers }), read }));
  const episodes = new Gauge({
    name: 'envladder_live_episodes',
    help: 'Episodes ended since the run began',
    labelNames: ['entry'],
    registers,
  });
  const returns = new Gauge({
    name: 'envladder_live_episode_return_mean',
    help: 'Mean return of the last 100 episodes',
    labelNames: ['entry'],
    registers,
  });
  const eventGauge = new Gauge({
    name: 'envladder_live_events',
    help: 'Lifecycle events since the run began',
    labelNames: ['type'],
    registers,
  });

  return {
    contentType: registry.contentType,
    async render(status, events) {
      up.set(status === null || status.phase === 'done' ? 0 : 1);
      if (status !== null) {
        for (const { gauge, read } of gauges) gauge.set(read(status));
        for (const [entry, kind] of Object.entries(status.kinds)) {
          episodes.set({ entry }, kind.episodes);
          if (kind.recentReturn !== null) returns.set({ entry }, kind.recentReturn);
        }
      }
      for (const [type, count] of events) eventGauge.set({ type }, count);
      return registry.metrics();
    },
  };
}
