// A ladder on the rig, from here: started in its service on the host (or found running there), followed to its end, its run folder fetched. Detaching
// and lost connections leave the ladder as it is. Returns the ladder's own exit code.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EnvladderError } from '../harness/contract/errors.js';
import { EXIT } from '../harness/contract/exit-codes.js';
import { fetchRun, hasRun } from './fetch-run.js';
import { asRoot, requireAnswer, runHostScript, type ScriptAnswer } from './host-script.js';
import { followLadder } from './ladder-stream.js';
import { openSsh, type SshSession, type SshTarget } from './ssh-session.js';

export interface RemoteLadder {
  readonly target: SshTarget;
  readonly plan: string;
  /** Words for `envladder ladder`. */
  readonly options: string;
  /** Of the stack, for the run's record; null = not known. */
  readonly configHash: string | null;
  /** False: only follow, settle and fetch what is there. */
  readonly start: boolean;
  readonly outDir: string;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  /** A line of the ladder. */
  readonly onLine: (line: string) => void;
  /** A line of ours. */
  readonly onNotice: (message: string) => void;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function withSession<Value>(target: SshTarget, work: (session: SshSession) => Promise<Value>): Promise<Value> {
  const session = await openSsh(target);
  try {
    return await work(session);
  } finally {
    session.close();
  }
}

function call(ladder: RemoteLadder, more: Readonly<Record<string, string>>): Promise<ScriptAnswer> {
  const { target, plan, options, configHash } = ladder;
  return withSession(target, async (session) => {
    const params = { plan, options, configHash: configHash ?? '', ...more };
    const run = await runHostScript(session, target.user, { concern: 'ladder-run', action: 'apply', params });
    // A ladder that ended badly is an answer, not a failure of ours.
    if (run.code === 70 && run.answer !== null && typeof run.answer.after['exitCode'] === 'number') return run.answer;
    return requireAnswer(run, `ladder ${plan} on ${target.host}`);
  });
}

/** What the record here says the run ended with; the host's word when there is no record. */
function exitCodeOf(folder: string, fallback: number): number {
  try {
    const { exit_code } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as { exit_code?: unknown };
    return typeof exit_code === 'number' ? exit_code : fallback;
  } catch {
    return fallback;
  }
}

/** Climbs `ladder.plan` on the rig and returns the exit code for this process: the ladder's, or 130 when we let go of it. */
export async function climbOnRig(ladder: RemoteLadder): Promise<number> {
  const { target, plan, onNotice } = ladder;
  const again = `npm run rig:ladder -- --attach ${plan}`;
  const begun = await call(ladder, { wait: 'no', start: ladder.start ? 'yes' : 'no', again: ladder.start ? 'yes' : 'no' });
  const run = String(begun.after['run'] ?? '');
  onNotice(`${begun.changed ? 'started' : 'attached to'} ${run} on ${target.host}; Ctrl-C detaches, the ladder goes on`);
  const followed = await followLadder({
    unit: `envladder@${plan}.service`,
    sudo: asRoot(target.user),
    open: () => openSsh(target),
    onLine: ladder.onLine,
    onNotice,
    signal: ladder.signal,
    patienceMs: ladder.patienceMs,
    nowMs: () => performance.now(),
    sleep,
  });
  if (followed.why !== 'ended') {
    onNotice(
      `${followed.why === 'detached' ? 'detached' : 'no connection any more'}; ${run} goes on on the host. To attach again: ${again}`,
    );
    return EXIT.interrupted;
  }
  const settled = await call(ladder, { wait: 'yes', start: 'no' });
  const hostCode = Number(settled.after['exitCode'] ?? EXIT.bug);
  const folder = await withSession(target, async (session) =>
    (await hasRun(session, asRoot(target.user), run)) ? fetchRun(session, asRoot(target.user), run, ladder.outDir) : null,
  );
  if (folder === null) {
    onNotice(`${run} ended with exit code ${hostCode} before it had a run folder; its words are above`);
    return hostCode;
  }
  onNotice(`fetched ${folder}; render it with: npm run envladder -- report ${folder}`);
  return exitCodeOf(folder, hostCode);
}

/** Fetches one run by its name, whatever became of it. */
export async function fetchFromRig(target: SshTarget, run: string, outDir: string): Promise<string> {
  if (!/^[A-Za-z0-9][\w.-]{0,120}$/.test(run))
    throw new EnvladderError('bad-usage', `--fetch takes the name of a run, as in smoke-20261130T113000Z, not '${run}'`);
  return withSession(target, (session) => fetchRun(session, asRoot(target.user), run, outDir));
}
