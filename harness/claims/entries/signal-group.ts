// The leader of a process group with three workers and two helper programs that know nothing of heartbeats: watches the workers in one of two
// ways for a while, says what it noticed and what became of the helpers, and ends with all of them. One order, one answer.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { OperationDeadlines } from '../../contract/messages.js';
import { createNativeMemory } from '../../memory/native-memory.js';
import { monotonicMs } from '../../supervisor/clock.js';
import { createLivenessJudge } from '../../supervisor/liveness-judge.js';
import { entryUrl } from '../../supervisor/spawn.js';
import { type GroupAnswer, type GroupOrder, MEMBERS, type Member } from '../rigs/signal-words.js';

const LOOK_EVERY_MS = 15;
/** Does nothing until its parent is gone: its stdin ends with it. */
const HELPER = 'process.stdin.on("end", () => process.exit(0)).resume(); console.log("up")';

function startHelpers() {
  const counts = { killed: 0, inspectors: 0 };
  const program = spawn('sleep', ['600'], { stdio: 'ignore' });
  // Another port than the default, should two of them wake.
  const node = spawn(process.execPath, ['--inspect-port=0', '-e', HELPER], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  for (const helper of [program, node]) helper.on('exit', (_, signal) => (counts.killed += signal === 'SIGUSR1' ? 1 : 0));
  node.stderr.on('data', (text: Buffer) => (counts.inspectors += text.toString().split('Debugger listening').length - 1));
  return { counts, up: once(node.stdout, 'data'), end: () => [program, node].forEach((helper) => void helper.kill('SIGKILL')) };
}

async function watchGroup(order: GroupOrder): Promise<GroupAnswer> {
  const control = createNativeMemory().createControl(MEMBERS.length);
  const helpers = startHelpers();
  const heardMs = new Map<Member, number>();
  const noticedMs: Partial<Record<Member, number>> = {};
  const members = new Map<Member, ChildProcess>();
  await Promise.all([
    helpers.up,
    ...MEMBERS.map(async (member) => {
      const path = fileURLToPath(entryUrl('../claims/entries/signal-member'));
      const child = fork(path, [member], { stdio: ['ignore', 'ignore', 'inherit', 'ipc', control.fd] });
      members.set(member, child);
      await once(child, 'message');
      child.on('message', () => heardMs.set(member, monotonicMs()));
    }),
  ]);
  const beganMs = monotonicMs();
  for (const [member, child] of members) {
    heardMs.set(member, beganMs);
    child.send('begin');
  }
  const notice = (member: Member): void => {
    noticedMs[member] ??= monotonicMs() - beganMs;
  };
  let beats = 0;
  const timers: NodeJS.Timeout[] = [];
  if (order.watch === 'sigusr1') {
    timers.push(
      setInterval(() => {
        beats++;
        // 0: everybody in our own group.
        process.kill(0, 'SIGUSR1');
        for (const member of MEMBERS) if (monotonicMs() - (heardMs.get(member) ?? 0) > order.deadlineMs) notice(member);
      }, order.beatMs),
    );
  } else {
    const seconds = order.deadlineMs / 1000;
    const deadlines: OperationDeadlines = { construct: seconds, reset: seconds, step: seconds, close: seconds };
    const limits = { frozenMs: order.deadlineMs, blockedMs: order.deadlineMs, intervalMs: LOOK_EVERY_MS };
    const judges = MEMBERS.map(() => createLivenessJudge(limits));
    timers.push(
      setInterval(() => {
        for (const [line, member] of MEMBERS.entries()) {
          if (judges[line]?.look(monotonicMs(), control.progress(line), deadlines).kill != null) notice(member);
        }
      }, LOOK_EVERY_MS),
    );
  }
  await new Promise((done) => setTimeout(done, order.lookMs));
  for (const timer of timers) clearInterval(timer);
  helpers.end();
  for (const child of members.values()) child.kill('SIGKILL');
  control.close();
  return { noticedMs, ...helpers.counts, beats };
}

process.on('SIGUSR1', () => undefined);
// It leads its group: whoever is in it goes too.
process.on('disconnect', () => process.kill(0, 'SIGKILL'));
process.once('message', (order: GroupOrder) => {
  void watchGroup(order)
    .catch((error: unknown) => ({ error: String(error) }))
    .then((answer) => process.send?.(answer, () => process.exit(0)));
});
