// Writes a checkpoint again and again in a process of its own, with its n-th file call going wrong, for every n there is; after each, what
// lies in the folder is judged by the reader that a resuming learner uses. Two at a time.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FromLearner } from '../contract/messages.js';
import { listCheckpoints } from '../learner/checkpoint-folder.js';
import { loadCheckpoint, newestCheckpoint } from '../learner/checkpoint-read.js';
import { writeCheckpoint } from '../learner/checkpoint-write.js';
import { entryUrl, execArgvFor } from '../supervisor/spawn.js';
import { failingIoEnv, type IoFault } from './failing-io.js';
import { holdsMadePolicy, madePolicy } from './made-policy.js';

/** Checkpoints that are there before: as many as are kept, so that writing one also removes one. */
const BEFORE = [1000, 2000, 3000] as const;
const OLD = 3000;
const NEW = 4000;
const LATER = 5000;
/** Far more file calls than a checkpoint makes. */
const MAX_CALLS = 400;
const AT_ONCE = 2;

export interface Torture {
  /** File calls that went wrong, over all faults. */
  readonly struck: number;
  /** How often the newest one afterwards was the old one, and the new one. */
  readonly old: number;
  readonly renewed: number;
  /** What did not hold, as sentences. */
  readonly problems: readonly string[];
}

export interface TortureOptions {
  readonly dir: string;
  readonly faults: readonly IoFault[];
  /** Every call is 1; every third is 3: what a quick look takes. */
  readonly stride: number;
  readonly say: (line: string) => void;
}

interface Ending {
  readonly fired: boolean;
  readonly killed: boolean;
  /** Code or signal of an ending that nothing explains. */
  readonly odd: string | null;
  readonly said: readonly FromLearner[];
}

export async function tortureCheckpoints({ dir, faults, stride, say }: TortureOptions): Promise<Torture> {
  const template = join(dir, 'template');
  for (const step of BEFORE) await writeCheckpoint(template, 'chaos', [madePolicy(step)]);
  const sum = { struck: 0, old: 0, renewed: 0 };
  const problems: string[] = [];
  for (const fault of faults) {
    let over = false;
    let next = 1;
    let last = 0;
    const work = async (): Promise<void> => {
      while (!over && next <= MAX_CALLS) {
        const at = next;
        next += stride;
        const where = join(dir, `${fault}-${at}`);
        cpSync(template, where, { recursive: true });
        const ending = await writeUnder(where, fault, at);
        const { newest, found } = await judgeFolder(where, ending);
        problems.push(...found.map((problem) => `${fault} at call ${at}: ${problem}`));
        rmSync(where, { recursive: true });
        if (!ending.fired) {
          // Beyond the last call.
          over = true;
          continue;
        }
        last = Math.max(last, at);
        sum.struck++;
        if (newest === NEW) sum.renewed++;
        else sum.old++;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (!over) problems.push(`${fault}: a checkpoint made more than ${MAX_CALLS} file calls`);
    if (last === 0) problems.push(`${fault}: no call was struck, the library is not in force`);
    say(`${fault}: calls 1 to ${last}`);
  }
  return { ...sum, problems };
}

/** A process writes NEW into `where`; its file call number `at` goes wrong. */
async function writeUnder(where: string, fault: IoFault, at: number): Promise<Ending> {
  const fired = `${where}-fired`;
  const entry = fileURLToPath(entryUrl('../chaos/checkpoint-child'));
  const child = spawn(process.execPath, [...execArgvFor(entry), entry, where, String(NEW)], {
    env: { ...process.env, ...failingIoEnv({ prefix: where, at, fault, fired }) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((done) => {
    child.once('close', (...ended) => done(ended));
    child.once('error', () => done([null, null]));
  });
  const said = output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as FromLearner);
  const odd = code === 0 || signal === 'SIGKILL' ? null : `the writer ended with ${signal ?? code}`;
  return { fired: existsSync(fired), killed: signal === 'SIGKILL', odd, said };
}

/** What must hold of the folder whatever became of the writer. */
async function judgeFolder(where: string, { odd, killed, said }: Ending): Promise<{ newest: number; found: string[] }> {
  const found: string[] = odd === null ? [] : [odd];
  let newest = Number.NaN;
  try {
    const { checkpoint, skipped } = newestCheckpoint(where);
    newest = checkpoint.step;
    found.push(...skipped.map(({ path, reason }) => `${path} is visible and damaged: ${reason}`));
    if (newest !== OLD && newest !== NEW) found.push(`the newest is ${newest}`);
    for (const name of listCheckpoints(where))
      if (!holdsMadePolicy(loadCheckpoint(join(where, name)))) found.push(`${name} holds other numbers`);
    const told = said.some(({ type }) => type === 'checkpoint');
    if (told && newest !== NEW) found.push('a checkpoint was told that is not there');
    if (!told && !killed && !said.some(({ type }) => type === 'warning')) found.push('it failed and nobody was told');
    await writeCheckpoint(where, 'chaos', [madePolicy(LATER)]);
    const later = newestCheckpoint(where).checkpoint;
    if (later.step !== LATER || !holdsMadePolicy(later)) found.push('the next one is not whole');
  } catch (error) {
    found.push((error as Error).message);
  }
  return { newest, found };
}
