// A comparison as JSON: the machine-readable result that other formats are renderings of. Names follow run.json; versioned by semver.
import type { Comparison, SideFacts } from './compare-sides.js';
import { metricId } from './run-metrics.js';

export const COMPARISON_VERSION = '1.0.0';

function sideJson(side: SideFacts): unknown {
  return { name: side.name, runs: side.runs, valid_runs: side.validRuns, git_commits: side.commits };
}

/** Plain values, ready for JSON.stringify. */
export function comparisonJson(comparison: Comparison): unknown {
  return {
    schema_version: COMPARISON_VERSION,
    verdict: comparison.verdict,
    exit_code: comparison.exitCode,
    alpha: comparison.alpha,
    seed: comparison.seed,
    machine_class: comparison.identity.machineClass,
    plan: comparison.identity.plan,
    config_hash: comparison.identity.configHash,
    base: sideJson(comparison.base),
    candidate: sideJson(comparison.candidate),
    invalid_runs: comparison.invalidRuns,
    overridden_differences: comparison.overridden,
    differences: comparison.notes,
    warnings: comparison.warnings,
    metrics: comparison.metrics.map((metric) => ({
      metric: metricId(metric.key),
      name: metric.key.name,
      tier_envs: metric.key.tierEnvs,
      unit: metric.key.unit,
      better: metric.key.better,
      kind: metric.key.kind,
      verdict: metric.verdict,
      base: metric.base,
      candidate: metric.candidate,
      shift: metric.shift,
      interval: metric.interval,
      p: metric.p,
      p_adjusted: metric.pAdjusted,
      aa_floor: metric.floor,
      threshold: metric.threshold,
    })),
    reproduce: comparison.reproduce,
  };
}
