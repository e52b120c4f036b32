// Memory, descriptors and event-loop lag of every worker and the learner over time: fed once a second from what the processes say, asked by
// the keeper for slopes, curves and who should be replaced. Bounded: one series per seat, of its present life only.
import type { GrowthRecord, Slope } from '../../contract/health-report.js';
import type { ChildReport } from '../../contract/messages.js';
import { createSampleSeries, type Sample, type SampleSeries } from './sample-series.js';
import { robustSlope } from './slope.js';
import { type MemoryFacts, WARM_UP_S } from './soft-restart.js';

/** Reports of about half a minute, for growth that is too fast to wait for. */
const RECENT_SAMPLES = 30;
const CURVE_POINTS = 60;
/** Fewer points each for a crowd, so that the page stays small. */
const CROWD = 64;
const CROWD_CURVE_POINTS = 15;
const HOUR_S = 3600;
/** What opens and closes a file now and then is not growth. */
const FLAT_FDS = 2;

export interface GrowthSeat {
  readonly role: 'worker' | 'learner';
  /** Null for the learner. */
  readonly worker: number | null;
  readonly pid: number | null;
  /** Rises with every life. */
  readonly life: number;
  readonly report: ChildReport | null;
}

export interface GrowthWatch {
  sample(runS: number, seats: readonly GrowthSeat[]): void;
  /** What a soft restart of life `life` is decided on; null before its first report. */
  memoryOf(worker: number, life: number): Pick<MemoryFacts, 'rssBytes' | 'ageS' | 'recent' | 'whole'> | null;
  records(): GrowthRecord[];
}

interface Life {
  readonly seat: Omit<GrowthSeat, 'report'>;
  readonly lives: number;
  readonly fromS: number;
  readonly series: SampleSeries;
  readonly recent: Sample[];
  /** The report that was counted last: an unchanged one is no new sample. */
  report: ChildReport;
  first: ChildReport;
  rssMax: number;
  fdsMax: number;
  lagMax: number;
  lastS: number;
  reports: number;
}

const perHour = (slope: Slope): Slope =>
  slope === null ? null : { value: slope.value * HOUR_S, low: slope.low * HOUR_S, high: slope.high * HOUR_S };

export function createGrowthWatch(): GrowthWatch {
  const lives = new Map<string, Life>();
  const keyOf = (seat: Pick<GrowthSeat, 'worker'>) => (seat.worker === null ? 'learner' : String(seat.worker));

  function begin(seat: GrowthSeat, report: ChildReport, runS: number, before: Life | undefined): Life {
    return {
      seat,
      lives: (before?.lives ?? 0) + 1,
      fromS: runS,
      series: createSampleSeries(),
      recent: [],
      report,
      first: report,
      rssMax: 0,
      fdsMax: 0,
      lagMax: 0,
      lastS: runS,
      reports: 0,
    };
  }

  function add(life: Life, report: ChildReport, runS: number): void {
    const sample = { t: runS, rssBytes: report.rssBytes, heapBytes: report.heapBytes, fds: report.fds, lagMs: report.loopLagMsMax };
    life.series.add(sample);
    life.recent.push({ ...sample, weight: 1 });
    if (life.recent.length > RECENT_SAMPLES) life.recent.shift();
    life.report = report;
    life.lastS = runS;
    life.reports++;
    life.rssMax = Math.max(life.rssMax, report.rssBytes);
    life.fdsMax = Math.max(life.fdsMax, report.fds);
    life.lagMax = Math.max(life.lagMax, report.loopLagMsMax);
  }

  return {
    sample(runS, seats) {
      for (const seat of seats) {
        if (seat.report === null) continue;
        const key = keyOf(seat);
        const before = lives.get(key);
        const same = before !== undefined && before.seat.life === seat.life && before.seat.pid === seat.pid;
        // The crew keeps the last report of a life until the next life says something.
        if (before !== undefined && before.report === seat.report) continue;
        const life = same ? before : begin(seat, seat.report, runS, before);
        lives.set(key, life);
        add(life, seat.report, runS);
      }
    },
    memoryOf(worker, wanted) {
      const life = lives.get(String(worker));
      // Until the new life speaks, what is known is of the old one.
      if (life === undefined || life.seat.life !== wanted) return null;
      const points = (samples: readonly Sample[]) => samples.map(({ t, rssBytes }) => ({ x: t, y: rssBytes }));
      return {
        rssBytes: life.report.rssBytes,
        ageS: life.lastS - life.fromS,
        recent: robustSlope(points(life.recent)),
        whole: robustSlope(points(warm(life))),
      };
    },
    records: () => [...lives.values()].map((life) => recordOf(life, lives.size > CROWD ? CROWD_CURVE_POINTS : CURVE_POINTS)),
  };
}

function warm(life: Life): readonly Sample[] {
  return life.series.samples().filter(({ t }) => t - life.fromS >= WARM_UP_S);
}

function recordOf(life: Life, curvePoints: number): GrowthRecord {
  const samples = warm(life);
  const slope = (of: (sample: Sample) => number) => robustSlope(samples.map((sample) => ({ x: sample.t, y: of(sample) })));
  const fds = slope((sample) => sample.fds);
  const { first, report } = life;
  const every = Math.max(1, Math.ceil(life.series.samples().length / curvePoints));
  const curve = life.series.samples().filter((_, i, all) => i % every === 0 || i === all.length - 1);
  return {
    role: life.seat.role,
    worker: life.seat.worker,
    pid: life.seat.pid,
    lives: life.lives,
    from_s: round(life.fromS),
    seconds: round(life.lastS - life.fromS),
    samples: life.reports,
    rss_bytes: { first: first.rssBytes, last: report.rssBytes, max: life.rssMax },
    rss_slope_per_h: perHour(slope((sample) => sample.rssBytes)),
    heap_slope_per_h: perHour(slope((sample) => sample.heapBytes)),
    fds: { first: first.fds, last: report.fds, max: life.fdsMax },
    fds_flat: fds === null ? null : isFlat(fds, samples),
    loop_lag_ms_max: life.lagMax,
    curve: { t_s: curve.map(({ t }) => round(t)), rss_bytes: curve.map(({ rssBytes }) => Math.round(rssBytes)) },
  };
}

/** No growth is sure, or what it comes to over the whole time is a descriptor or two. */
function isFlat(fds: NonNullable<Slope>, samples: readonly Sample[]): boolean {
  const span = (samples.at(-1)?.t ?? 0) - (samples[0]?.t ?? 0);
  return fds.low <= 0 || fds.value * span <= FLAT_FDS;
}

const round = (s: number): number => Math.round(s * 10) / 10;
