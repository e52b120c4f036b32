// `envladder doctor`: pre-flight on its own, and two facts that only matter when something has to be built.
import { spawnSync } from 'node:child_process';
import { describePreflight } from './describe-preflight.js';
import type { PreparedLadder } from './prepare-ladder.js';

function compilerNote(): string {
  for (const name of process.env.CXX === undefined ? ['g++', 'clang++', 'c++'] : [process.env.CXX]) {
    const probe = spawnSync(name, ['--version'], { encoding: 'utf8', timeout: 5000 });
    if (probe.status === 0) return `info  C++ compiler: ${probe.stdout.split('\n')[0] ?? name} (only needed to build the addon)`;
  }
  return 'info  C++ compiler: none found (only needed to build the addon: apt-get install g++)';
}

/** The text to print. */
export function examine(prepared: PreparedLadder): string {
  const { plan, label } = prepared.read;
  const head = `plan ${label}: ${plan.tiers.map((tier) => tier.envs.toLocaleString('en-US')).join(' -> ')} envs, ${plan.workers} worker(s)\n`;
  return `${head}\n${describePreflight(prepared.preflight, [compilerNote()])}`;
}
