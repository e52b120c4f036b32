// Row 50: every worker replaced by a new process, again and again, under load.
import { monotonicMs } from '../../supervisor/clock.js';
import { type CrewChaosRow, crewRow } from '../crew-row.js';

const REPLACEMENTS = 100;
const LIMIT_MS = 10_000;

export const hotReplace: CrewChaosRow = crewRow({
  row: 50,
  fault: `workers replaced ${REPLACEMENTS} times under load`,
  outcome: 'nothing torn, no frame twice, no budget charged',
  recoverLimitMs: null,
  async inject(rig) {
    const workers = [...rig.segments.keys()];
    const atMs = monotonicMs();
    const problems: string[] = [];
    const took: number[] = [];
    const each = async (worker: number): Promise<void> => {
      for (let n = worker; n < REPLACEMENTS; n += workers.length) {
        const beganMs = monotonicMs();
        const answer = await rig.crew.obey({ id: `replace ${n}`, command: 'replace-worker', worker });
        const ms = monotonicMs() - beganMs;
        took.push(ms);
        if (!answer.ok) problems.push(answer.message);
        if (ms > LIMIT_MS * rig.context.patience) problems.push(`replacement ${n} took ${Math.round(ms)} ms`);
      }
    };
    await Promise.all(workers.map(each));
    const slowest = Math.max(...took);
    return {
      atMs,
      touched: workers.flatMap((worker) => rig.envsOf(worker)),
      recovered: () => atMs + slowest,
      undo: () => (rig.crew.restarts === 0 ? problems : [...problems, `${rig.crew.restarts} restarts were charged`]),
      expect: [{ type: 'worker-replaced', count: REPLACEMENTS }],
    };
  },
});
