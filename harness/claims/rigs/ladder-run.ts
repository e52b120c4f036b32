// One whole ladder as a user runs it, in a process of its own, and its record: for claims about start-up, tiers and totals. What ran is in the
// record; what the claim says of it is computed from the record alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliCommand } from '../../chaos/child-ladder.js';
import { EnvladderError } from '../../contract/errors.js';
import type { PlanInput } from '../../contract/plan.js';
import { type RunRecord, runRecordSchema, type TierResult } from '../../contract/run-record.js';
import type { ClaimContext } from '../claim.js';

const KEPT_CHARACTERS = 8000;
let runs = 0;

/** Runs `plan` to its end. Rejects when it leaves no finished record; a run that is invalid only because the machine was busy is kept. */
export async function runLadderOf(context: Pick<ClaimContext, 'dir' | 'signal' | 'seed'>, plan: PlanInput): Promise<RunRecord> {
  const dir = join(context.dir, `ladder-${runs}`);
  const planFile = join(context.dir, `plan-${runs++}.yaml`);
  // Other load is judged by the claim's own look at the machine, and must not cost a repeat here. JSON is YAML.
  writeFileSync(planFile, JSON.stringify({ seed: context.seed, quiet: { maxStealShare: 1, maxForeignShare: 1 }, ...plan }));
  const [program = process.execPath, ...args] = [...cliCommand(), 'ladder', '--plan', planFile, '--out', dir];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ENVLADDER_REDIS_URL: '' } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_CHARACTERS);
    });
  // A clean stop at the first word; the ladder ends its own children.
  const stop = (): void => void child.kill('SIGINT');
  context.signal.addEventListener('abort', stop);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    const record = runRecordSchema.parse(JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')));
    if (record.run.state !== 'finished' || record.tiers.length === 0)
      throw new EnvladderError('learner-died', `the ladder ended ${record.run.state} with exit code ${code}: ${output.slice(-600)}`);
    return record;
  } catch (error) {
    if (error instanceof EnvladderError) throw error;
    throw new EnvladderError('bad-record', `the ladder left no record: ${output.slice(-600)}`, { cause: error });
  } finally {
    context.signal.removeEventListener('abort', stop);
    child.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Mean of a tier's own histogram of step latencies, in milliseconds. Throws when it is empty. */
export function meanLatencyMs({ latency_histogram: { value_us, count } }: Pick<TierResult, 'latency_histogram'>): number {
  const total = count.reduce((sum, n) => sum + n, 0);
  if (total === 0) throw new EnvladderError('bad-record', 'a tier without a single step has no mean latency');
  return value_us.reduce((sum, value, i) => sum + value * (count[i] ?? 0), 0) / total / 1000;
}
