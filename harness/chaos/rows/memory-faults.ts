// Rows 33, 34 and 35: shared memory that is not to be had, a segment that is damaged, and what dead runs left behind.
import { existsSync, ftruncateSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { EnvladderError } from '../../contract/errors.js';
import { createNativeMemory } from '../../memory/native-memory.js';
import { cgroupName } from '../../supervisor/cgroup-name.js';
import { findCgroupPlace } from '../../supervisor/cgroup-place.js';
import type { ChaosRow } from '../chaos-row.js';
import { identify, startLadder, stillRunning } from '../child-ladder.js';
import { type CrewChaosRow, crewRow } from '../crew-row.js';
import { judgeLadder, ladderRow } from '../ladder-row.js';
import { holdersOf, leftSince, lookAround } from '../leftovers.js';
import { raiseRig } from '../rig.js';
import { until } from '../until.js';
import { pickWorkers, workerDeath } from '../worker-death.js';

const LITTLE_BYTES = 4096;

export const memoryFull: ChaosRow = ladderRow({
  row: 33,
  fault: 'not enough shared memory',
  outcome: 'the start is refused with the numbers, nobody gets SIGBUS, nothing is left',
  recoverLimitMs: 0,
  async act(context) {
    const before = lookAround();
    const problems: string[] = [];
    try {
      const rig = await raiseRig(context, {
        wrapMemory: (memory) => ({ ...memory, createSegment: createNativeMemory({ availableBytes: () => LITTLE_BYTES }).createSegment }),
      });
      problems.push(`a rig stands on ${LITTLE_BYTES} bytes`);
      await rig.stop();
    } catch (error) {
      const told = error instanceof EnvladderError && error.code === 'out-of-memory' && /\d/.test(error.message);
      if (!told) problems.push(`it was refused without numbers: ${(error as Error).message}`);
    }
    const refused = startLadder(context, { plan: { tiers: [900_000], mix: { field: 1 } } });
    const { code } = await refused.exit;
    if (code !== 3) problems.push(`a plan beyond the machine ended with ${code}, not 3: ${refused.stderr().slice(-200)}`);
    if (!/\d+(\.\d+)? [GM]i?B/.test(refused.stderr())) problems.push(`its refusal has no numbers: ${refused.stderr().slice(-300)}`);
    if (existsSync(join(refused.dir, 'run.json'))) problems.push('it left a run folder');
    const left = leftSince(before, `chaos-${process.pid}-`);
    const held = holdersOf(`memfd:envladder:chaos-${process.pid}-`);
    return {
      detectMs: null,
      recoverMs: null,
      problems,
      findings: { I5: { ok: left.length === 0 && held.length === 0, evidence: left.join('; ') || 'nothing is left of either start' } },
    };
  },
});

/** Where the magic and the layout hash are. */
const GARBAGE = Buffer.alloc(16, 0xa5);

export const segmentDamaged: CrewChaosRow = crewRow({
  row: 34,
  fault: 'bytes written into the header of a segment',
  outcome: 'its size is sealed; the damage is noticed, the range goes on in other memory',
  recoverLimitMs: 15_000,
  async inject(rig) {
    const workers = pickWorkers(rig, 1);
    const worker = workers[0] as number;
    const segment = rig.segments.get(worker);
    if (segment === undefined) throw new Error(`no segment of worker ${worker}`);
    const problems: string[] = [];
    const size = statSync(`/proc/self/fd/${segment.fd}`).size;
    for (const bytes of [0, size * 2]) {
      try {
        ftruncateSync(segment.fd, bytes);
        problems.push(`its size could be changed to ${bytes}`);
      } catch {
        // EPERM: sealed.
      }
    }
    const fault = workerDeath(rig, workers, () => void writeSync(segment.fd, GARBAGE, 0, GARBAGE.length, 0), /damaged/);
    return {
      ...fault,
      undo: () => (rig.segments.get(worker) === segment ? [...problems, 'the range stands in the damaged memory'] : problems),
      expect: [...(fault.expect ?? []), { type: 'alarm', worker, cause: /damaged/ }],
    };
  },
});

/** A folder as a run would have left it, made by a process that is (not) alive. */
function forgeCgroup(parent: string, name: string): string | null {
  const folder = join(parent, name);
  try {
    mkdirSync(folder);
    return folder;
  } catch {
    return null;
  }
}

export const staleLeftovers: ChaosRow = ladderRow({
  row: 35,
  fault: 'a dead run beside a live one, each with what it made',
  outcome: 'the next start clears the dead one alone',
  recoverLimitMs: null,
  async act(context) {
    const before = lookAround();
    const dead = startLadder(context, { dir: join(context.dir, 'runs', 'dead') });
    const alive = startLadder(context, { dir: join(context.dir, 'runs', 'alive') });
    if (!(await dead.live()) || !(await alive.live()))
      throw new Error(`a ladder did not come up: ${dead.stderr().slice(-300)} ${alive.stderr().slice(-300)}`);
    const children = identify(alive.children());
    const acknowledged = dead.events();
    dead.kill('SIGKILL');
    await dead.exit;
    const place = findCgroupPlace();
    const folder = 'folder' in place ? place.folder : null;
    const forged = folder === null ? null : forgeCgroup(folder, `${cgroupName('chaos-forged', process.pid).replace(/\d+$/, '1')}`);
    const own = folder === null ? null : forgeCgroup(folder, cgroupName('chaos-own', process.pid));
    const problems: string[] = [];
    const next = startLadder(context, { dir: join(context.dir, 'runs', 'next'), plan: { seconds: 1 } });
    const { code } = await next.exit;
    if (code !== 0) problems.push(`the next start ended with ${code}: ${next.stderr().slice(-300)}`);
    const state = (dir: string): unknown =>
      (JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as { run: { state: string } }).run.state;
    if (state(dead.dir) !== 'failed') problems.push(`the dead run is called ${state(dead.dir)}`);
    if (state(alive.dir) !== 'running') problems.push(`the live run is called ${state(alive.dir)}`);
    if (alive.ended !== null || stillRunning(children).length !== children.size) problems.push('the live run lost a process');
    if (forged !== null && existsSync(forged)) problems.push('the cgroup of a dead supervisor is still there');
    if (own !== null && !existsSync(own)) problems.push('the cgroup of a live process was removed');
    for (const made of [forged, own]) if (made !== null && existsSync(made)) rmdirSync(made);
    const stray = readdirSync(dead.dir).filter((name) => name.endsWith('.tmp'));
    if (stray.length > 0) problems.push(`temporary files are left: ${stray.join(', ')}`);
    alive.kill('SIGTERM');
    await until(() => alive.ended !== null, 20_000 * context.patience);
    return { detectMs: null, recoverMs: null, problems, findings: await judgeLadder(before, dead, acknowledged, 3000 * context.patience) };
  },
});
