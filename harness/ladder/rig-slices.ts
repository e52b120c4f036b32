// What the slices of a rig used: the kernel's counters of each, read at both ends of a tier's measured time, a few small files each. Only on a
// host that says so (contract/rig-facts.ts); elsewhere everything here is null. What cannot be read is null and fails nothing.
import { RIG_FACTS_VARIABLE, type RigFacts, rigFactsSchema, type SliceUse } from '../contract/rig-facts.js';
import { readAmount, readCounts, readFileText } from '../supervisor/cgroup-files.js';

/** Counters since the cgroup was made; null where the kernel has none. */
export interface SliceReading {
  readonly usageUs: number | null;
  readonly systemUs: number | null;
  readonly throttledUs: number | null;
  readonly oomKills: number | null;
  readonly memoryBytes: number | null;
  readonly memoryPeakBytes: number | null;
}

export type SlicesReading = Readonly<Record<string, SliceReading>>;

/** The rig's word for this host; null when there is none. `problem` hears of a file that is named and cannot be used. */
export function readRigFacts(env: NodeJS.ProcessEnv, problem: (message: string) => void): RigFacts | null {
  const path = env[RIG_FACTS_VARIABLE];
  if (!path) return null;
  const unusable = (why: string): null => {
    problem(`${RIG_FACTS_VARIABLE} names ${path}, which ${why}: the record says nothing of the rig`);
    return null;
  };
  const text = readFileText(path);
  if (text === undefined) return unusable('cannot be read');
  try {
    const parsed = rigFactsSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : unusable(`is not what this version expects (${parsed.error.issues[0]?.path.join('.')})`);
  } catch {
    return unusable('is not JSON');
  }
}

/** Reads all slices now; null without a rig. */
export function readSlices(facts: RigFacts | null): SlicesReading | null {
  if (facts === null) return null;
  return Object.fromEntries(
    Object.entries(facts.slices).map(([name, folder]) => {
      const cpu = readCounts(folder, 'cpu.stat');
      return [
        name,
        {
          usageUs: cpu['usage_usec'] ?? null,
          systemUs: cpu['system_usec'] ?? null,
          throttledUs: cpu['throttled_usec'] ?? null,
          oomKills: readCounts(folder, 'memory.events')['oom_kill'] ?? null,
          memoryBytes: readAmount(folder, 'memory.current'),
          memoryPeakBytes: readAmount(folder, 'memory.peak'),
        },
      ];
    }),
  );
}

/** Use between two readings. A counter that fell belongs to a slice that was made anew: nothing is known of the time before. Pure. */
export function slicesUseBetween(from: SlicesReading | null, to: SlicesReading | null): Record<string, SliceUse> | null {
  if (from === null || to === null) return null;
  return Object.fromEntries(
    Object.entries(to).map(([name, end]) => {
      const begin = from[name];
      const grown = (key: 'usageUs' | 'systemUs' | 'throttledUs' | 'oomKills', scale: number): number | null => {
        const [a, b] = [begin?.[key] ?? null, end[key]];
        return a === null || b === null || b < a ? null : (b - a) / scale;
      };
      return [
        name,
        {
          cpu_s: grown('usageUs', 1e6),
          cpu_system_s: grown('systemUs', 1e6),
          throttled_s: grown('throttledUs', 1e6),
          memory_peak_bytes: end.memoryPeakBytes,
          memory_bytes: end.memoryBytes,
          oom_kills: grown('oomKills', 1),
        },
      ];
    }),
  );
}
