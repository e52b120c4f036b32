// I1: every frame the learner took was checked cell by cell in its own process; what it found wrong travels in its snapshots and warnings.
import type { LearnerSnapshot } from '../../contract/snapshot.js';
import type { CrewEnd } from '../../supervisor/crew.js';
import type { Finding } from '../chaos-row.js';
import { CHECK_LOSSES } from '../check-words.js';
import { type Rig, toldViolations } from '../rig.js';

export interface CheckCounts {
  readonly frames: number;
  readonly cells: number;
  readonly violations: number;
}

/** Sums over the lives of the learner: counts that fall belong to a new life. */
export function checkCounts(snapshots: readonly (LearnerSnapshot | null)[]): CheckCounts {
  const sum = { frames: 0, cells: 0, violations: 0 };
  let last = { frames: 0, cells: 0, violations: 0 };
  for (const snapshot of snapshots) {
    const seen = snapshot?.losses[CHECK_LOSSES];
    if (seen === undefined) continue;
    const now = { frames: seen.frames ?? 0, cells: seen.cells ?? 0, violations: seen.violations ?? 0 };
    if (now.frames < last.frames) {
      sum.frames += last.frames;
      sum.cells += last.cells;
      sum.violations += last.violations;
    }
    last = now;
  }
  return { frames: sum.frames + last.frames, cells: sum.cells + last.cells, violations: sum.violations + last.violations };
}

export function judgeFrames(rig: Rig, end: CrewEnd): Finding {
  const counts = checkCounts([...rig.stats, end.snapshot]);
  const told = toldViolations(rig);
  const torn = end.snapshot?.torn ?? rig.stats.at(-1)?.torn ?? 0;
  const outOfOrder = end.snapshot?.outOfOrder ?? rig.stats.at(-1)?.outOfOrder ?? 0;
  const bad = Math.max(counts.violations, told.length);
  if (counts.frames === 0) return { ok: false, evidence: 'no frame was checked' };
  return {
    // A torn read that is noticed is counted and not taken: it is no fault by itself.
    ok: bad === 0 && outOfOrder === 0,
    evidence:
      bad === 0 && outOfOrder === 0
        ? `${counts.frames} frames (${counts.cells} cells) checked, 0 wrong, 0 out of order, ${torn} torn reads noticed and not taken`
        : `${bad} wrong of ${counts.frames} frames, ${outOfOrder} out of order: ${told.slice(0, 3).join(' | ')}`,
  };
}
