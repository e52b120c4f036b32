// Rows 38 to 40: the disk fails while a checkpoint is written, the process is killed while it writes one, and one that was written is damaged
// later. The first two strike every file call of a write, one after another; the third resumes a real ladder.
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listCheckpoints } from '../../learner/checkpoint-folder.js';
import { loadCheckpoint } from '../../learner/checkpoint-read.js';
import type { ChaosRow, RowContext, RowOutcome } from '../chaos-row.js';
import { tortureCheckpoints } from '../checkpoint-torture.js';
import { startLadder } from '../child-ladder.js';
import { failingIoProblem, type IoFault } from '../failing-io.js';
import { judgeLadder, ladderRow } from '../ladder-row.js';
import { lookAround } from '../leftovers.js';
import { seededRandom } from '../seeded-random.js';
import { until } from '../until.js';

async function torture(context: RowContext, faults: readonly IoFault[], stride: number): Promise<RowOutcome> {
  const { struck, old, renewed, problems } = await tortureCheckpoints({ dir: context.dir, faults, stride, say: context.say });
  return {
    detectMs: null,
    recoverMs: null,
    problems,
    findings: {
      I4: {
        ok: problems.length === 0,
        evidence: `${struck} file calls struck (${faults.join(', ')}): the newest that was visible afterwards loaded each time, bit by bit; ${old} times the old one, ${renewed} times the new one`,
      },
    },
  };
}

/** Row 38; `stride` 1 strikes every call, 7 every seventh. */
export function failingDisk(stride: number): ChaosRow {
  return {
    row: 38,
    fault: 'EIO, a full disk, a short write at each file call of a checkpoint',
    outcome: 'no bad checkpoint is accepted, a failure is told, the next one is whole',
    recoverLimitMs: null,
    needs: failingIoProblem,
    run: (context) => torture(context, ['eio', 'enospc', 'short'], stride),
  };
}

/** Row 39. */
export function killedWriting(stride: number): ChaosRow {
  return {
    row: 39,
    fault: 'killed at each file call of a checkpoint, before it and half way through',
    outcome: 'the newest visible one loads, every time',
    recoverLimitMs: null,
    needs: failingIoProblem,
    run: (context) => torture(context, ['kill', 'torn'], stride),
  };
}

export const diskFails: ChaosRow = failingDisk(1);
export const killedInCheckpoint: ChaosRow = killedWriting(1);

/** A learner that leaves a checkpoint every second or so. */
const LEARNING = { learner: 'ppo', backend: 'wasm', ppo: { horizon: 8, epochs: 1, minibatch: 256, checkpointSeconds: 1 } } as const;
const CHECKPOINTS_NEEDED = 2;
/** Damages to one checkpoint, each looked at by the reader alone. */
const DAMAGES = 60;

/** Damages a random byte or length of a random file; returns how to undo it, and what it was. */
function damageOne(checkpoint: string, random: () => number): { undo: () => void; what: string } {
  const names = readdirSync(checkpoint);
  const name = names[Math.floor(random() * names.length)] as string;
  const path = join(checkpoint, name);
  const whole = readFileSync(path);
  const undo = (): void => writeFileSync(path, whole);
  if (random() < 0.5) {
    const length = Math.floor(random() * whole.length);
    truncateSync(path, length);
    return { undo, what: `${name} cut to ${length} of ${whole.length} bytes` };
  }
  const at = Math.floor(random() * whole.length);
  const bit = Math.floor(random() * 8);
  const flipped = Buffer.from(whole);
  flipped[at] = (flipped[at] as number) ^ (1 << bit);
  writeFileSync(path, flipped);
  return { undo, what: `bit ${bit} of byte ${at} of ${name}` };
}

export const damagedCheckpoint: ChaosRow = ladderRow({
  row: 40,
  fault: 'the newest checkpoint is damaged: a bit, a length',
  outcome: 'refused by its hash, the older one is used, an event says so; with none left the start is refused',
  recoverLimitMs: null,
  async act(context) {
    const before = lookAround();
    const problems: string[] = [];
    const first = startLadder(context, { plan: LEARNING });
    if (!(await first.live())) throw new Error(`the ladder did not come up: ${first.stderr().slice(-500)}`);
    const folder = join(first.dir, 'checkpoints');
    const made = await until(() => listCheckpoints(folder).length >= CHECKPOINTS_NEEDED, 60_000 * context.patience);
    if (!made) throw new Error('no two checkpoints were written within 60 s');
    const acknowledged = first.events();
    first.kill('SIGTERM');
    await first.exit;
    const random = seededRandom(context.seed);
    const [newest = '', older = ''] = listCheckpoints(folder);
    for (let i = 0; i < DAMAGES; i++) {
      const { undo, what } = damageOne(join(folder, newest), random);
      try {
        loadCheckpoint(join(folder, newest));
        problems.push(`accepted with ${what}`);
      } catch {
        // Refused, as it must be.
      }
      undo();
    }
    loadCheckpoint(join(folder, newest));

    const weights = join(folder, newest, 'policy-0.weights.f32');
    truncateSync(weights, statSync(weights).size - 1);
    const resumed = startLadder(context, { plan: { ...LEARNING, seconds: 1 }, args: ['--resume', first.dir] });
    const { code } = await resumed.exit;
    if (code !== 0) problems.push(`the resumed run ended with ${code}: ${resumed.stderr().slice(-300)}`);
    const told = resumed
      .events()
      .filter(({ type, message }) => type === 'warning' && message.includes(newest) && message.includes('skipped'));
    if (told.length !== 1) problems.push(`${told.length} events about the damaged checkpoint, not 1`);
    const started = resumed.events().find(({ type }) => type === 'learner-started');
    const from = (JSON.parse(started?.detail ?? '{}') as { resumedFrom?: string }).resumedFrom;
    if (from !== join(folder, older)) problems.push(`it resumed from ${from}, not from ${older}`);

    for (const name of listCheckpoints(folder).slice(1)) truncateSync(join(folder, name, 'manifest.json'), 10);
    const refused = startLadder(context, { plan: { ...LEARNING, seconds: 1 }, args: ['--resume', first.dir] });
    const ending = await refused.exit;
    if (ending.code === 0 || !/checkpoint/.test(refused.stderr()))
      problems.push(`with no whole checkpoint left it ended with ${ending.code}: ${refused.stderr().slice(-300)}`);
    const findings = await judgeLadder(before, first, acknowledged, 3000 * context.patience);
    return {
      detectMs: null,
      recoverMs: null,
      problems,
      findings: {
        ...findings,
        I4: {
          ok: problems.length === 0,
          evidence: `${DAMAGES} random damages of the newest one: each refused; the older one was resumed from`,
        },
      },
      notes: told.map(({ message }) => message),
    };
  },
});

const NEEDS_VM = 'needs a machine of its own (a VM) whose power can be cut';

/** Row 41. */
export const powerLoss: ChaosRow = ladderRow({
  row: 41,
  fault: 'power loss',
  outcome: 'the newest committed checkpoint loads, the database is consistent',
  recoverLimitMs: null,
  needs: () => NEEDS_VM,
  act: () => Promise.resolve({ skipped: NEEDS_VM }),
});
