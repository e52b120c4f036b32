// I6: what a fault costs the envs it does not touch. Their own rate while it lasts is compared with their rate in the windows right before
// and right after, on the same machine in the same seconds; the learner is paced, so that the machine has air and a lost frame is a lost
// frame. On a machine with other users one window says little: the matrix repeats a row whose only complaint is this one.
import type { Finding } from '../chaos-row.js';
import type { Rig } from '../rig.js';

export interface RateWindows {
  readonly beforeMs: number;
  readonly faultMs: number;
  readonly afterMs: number;
  readonly seenMs: number;
}

/** Share of their rate that untouched envs must keep. */
export const LEAST_SHARE = 0.9;
/** A fault window shorter than this is stretched: fewer samples say nothing. */
const LEAST_WINDOW_MS = 500;

export function judgeRates(rig: Rig, touched: readonly number[], { beforeMs, faultMs, afterMs, seenMs }: RateWindows): Finding {
  const hit = new Set(touched);
  const { seq } = rig.sampler.look();
  const envs = Array.from(seq.keys()).filter((env) => !hit.has(env) && (seq[env] as number) > 0);
  if (envs.length === 0) return { ok: null, evidence: 'the fault touches every env' };
  const before = rig.sampler.rate(envs, Math.max(beforeMs, faultMs - 2000), faultMs);
  const during = rig.sampler.rate(envs, faultMs, Math.max(afterMs, faultMs + LEAST_WINDOW_MS));
  const after = rig.sampler.rate(envs, afterMs, seenMs);
  const around = [before.sum, after.sum].filter(Number.isFinite);
  if (around.length === 0 || !Number.isFinite(during.sum)) return { ok: null, evidence: 'too short to say' };
  const reference = around.reduce((sum, rate) => sum + rate, 0) / around.length;
  const share = during.sum / reference;
  const least = Math.min(...during.each) / (reference / envs.length);
  const text = (rate: number): string => (Number.isFinite(rate) ? (rate / envs.length).toFixed(1) : 'none');
  return {
    ok: share >= LEAST_SHARE,
    evidence:
      `${envs.length} untouched envs: ${text(before.sum)} steps/s each before, ${text(during.sum)} during, ${text(after.sum)} after: ` +
      `${(share * 100).toFixed(1)} % kept, the slowest env ${(least * 100).toFixed(0)} %`,
  };
}
