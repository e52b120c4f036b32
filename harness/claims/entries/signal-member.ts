// A worker in a process group that is beaten by SIGUSR1, and that at the same time keeps a progress line as a worker of this project does: so
// both ways to watch it look at the same process. Steps, or is stuck in a step, as its name says. Ends with its parent.
import { constants } from 'node:os';
import { loadNative } from '../../../native/index.js';
import { OP } from '../../memory/control.js';
import { createNativeMemory } from '../../memory/native-memory.js';
import { monotonicMs } from '../../supervisor/clock.js';
import { MEMBER_CONTROL_FD, MEMBERS, type Member } from '../rigs/signal-words.js';

const BEAT_MS = 50;
const STEP_EVERY_MS = 5;

// A step that spins hears of nothing, also not that its leader is gone.
if (!loadNative().dieWithParent(constants.signals.SIGKILL, process.ppid)) process.exit(1);

const member = process.argv[2] as Member;
const line = MEMBERS.indexOf(member);
const control = createNativeMemory().attachControl(MEMBERS.length, MEMBER_CONTROL_FD);
const words = control.progressWords(line);
const stamps = control.stampWords(line);
control.beat(line, BEAT_MS);

const stampLoop = (): void => {
  stamps[1] = monotonicMs();
};

function beginStep(): void {
  stamps[2] = monotonicMs();
  words[0] = line;
  words[1] = OP.step;
}

function step(): void {
  beginStep();
  words[3] = (words[3] as number) + 1;
  words[1] = OP.idle;
}

async function getStuck(): Promise<void> {
  beginStep();
  if (member === 'spins') for (;;);
  await new Promise(() => undefined);
}

process.on('SIGUSR1', () => process.send?.({ beat: member }));
process.on('disconnect', () => process.exit(0));
process.once('message', () => {
  if (member === 'steps') setInterval(step, STEP_EVERY_MS);
  else void getStuck();
});
stampLoop();
setInterval(stampLoop, STEP_EVERY_MS);
process.send?.({ up: member });
