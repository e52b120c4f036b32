// How the climb stands right now: what the live status and the metrics file show. Fed once a second by the learner's counts, read at
// any time; it never waits for a child.
import type { MetricsLine } from '../contract/metrics.js';
import type { Plan } from '../contract/plan.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import type { CrewScan } from '../supervisor/crew.js';

export type LadderPhase = 'starting' | 'growing' | 'measuring' | 'stopping' | 'done';

export interface LadderStatus {
  readonly phase: LadderPhase;
  /** Index into the plan's tiers. */
  readonly tier: number;
  readonly tiers: number;
  readonly label: string;
  readonly envs: number;
  readonly live: number;
  readonly quarantined: number;
  readonly runSeconds: number;
  /** Measured seconds of this tier so far, and planned. */
  readonly tierSeconds: number;
  readonly plannedSeconds: number;
  /** Measured time still to come, all tiers. */
  readonly etaSeconds: number;
  /** Over the last interval between two counts. */
  readonly samplingSps: number;
  readonly trainingSps: number;
  readonly batchFill: number;
  readonly updates: number;
  readonly restarts: number;
  readonly memoryBytes: number;
  readonly kinds: LearnerSnapshot['kinds'];
}

export interface StatusBoard {
  setPhase(phase: LadderPhase, tier: number): void;
  /** Takes the learner's counts in and returns the line for metrics.ndjson. */
  take(snapshot: LearnerSnapshot): MetricsLine;
  read(): LadderStatus;
}

export interface StatusSources {
  readonly plan: Plan;
  readonly runSeconds: () => number;
  readonly scan: () => CrewScan;
  readonly restarts: () => number;
  readonly memory: () => Readonly<Record<string, number>>;
}

const NOTHING: CrewScan = { published: 0, taken: 0, live: 0, quarantined: 0 };

export function createStatusBoard(sources: StatusSources): StatusBoard {
  const { plan } = sources;
  let phase: LadderPhase = 'starting';
  let tier = 0;
  let phaseBeganS = 0;
  let last: LearnerSnapshot | null = null;
  let samplingSps = 0;
  let trainingSps = 0;
  let fill = 0;

  const tierSeconds = (): number => (phase === 'measuring' ? sources.runSeconds() - phaseBeganS : 0);
  const etaSeconds = (): number => {
    if (phase === 'stopping' || phase === 'done') return 0;
    const planned = plan.tiers.slice(tier).reduce((sum, each) => sum + each.seconds, 0);
    return Math.max(0, planned - tierSeconds());
  };

  return {
    setPhase(to, index) {
      phase = to;
      tier = index;
      phaseBeganS = sources.runSeconds();
    },
    take(snapshot) {
      const seconds = last === null ? 0 : (snapshot.monotonicMs - last.monotonicMs) / 1000;
      if (last !== null && seconds > 0) {
        samplingSps = (snapshot.published - last.published) / seconds;
        trainingSps = (snapshot.trained - last.trained) / seconds;
        const batches = snapshot.batches - last.batches;
        if (batches > 0) fill = Math.min(1, Math.max(0, (snapshot.batchFill * snapshot.batches - last.batchFill * last.batches) / batches));
      }
      last = snapshot;
      const scan = sources.scan();
      return {
        t_s: sources.runSeconds(),
        tier,
        envs_live: scan.live,
        published: snapshot.published,
        trained: snapshot.trained,
        sampling_sps: samplingSps,
        training_sps: trainingSps,
        batch_fill: fill,
        restarts: sources.restarts(),
        quarantined: scan.quarantined,
        updates: snapshot.updates,
        memory_bytes: { ...sources.memory() },
        kinds: Object.fromEntries(
          Object.entries(snapshot.kinds).map(([name, kind]) => [
            name,
            { episodes: kind.episodes, return_mean: kind.recentReturn, length_mean: kind.recentLength },
          ]),
        ),
        losses: Object.fromEntries(Object.entries(snapshot.losses).map(([name, losses]) => [name, { ...losses }])),
      };
    },
    read() {
      const now = plan.tiers[tier];
      const scan = phase === 'done' ? NOTHING : sources.scan();
      return {
        phase,
        tier,
        tiers: plan.tiers.length,
        label: now?.label ?? '',
        envs: now?.envs ?? 0,
        live: scan.live,
        quarantined: scan.quarantined,
        runSeconds: sources.runSeconds(),
        tierSeconds: tierSeconds(),
        plannedSeconds: now?.seconds ?? 0,
        etaSeconds: etaSeconds(),
        samplingSps,
        trainingSps,
        batchFill: fill,
        updates: last?.updates ?? 0,
        restarts: sources.restarts(),
        memoryBytes: Object.values(sources.memory()).reduce((sum, bytes) => sum + bytes, 0),
        kinds: last?.kinds ?? {},
      };
    },
  };
}
