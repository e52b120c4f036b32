// Child of processes.test.ts: publishes observation = action * 2 + slot until it has published the given number of frames. Its segment is the
// inherited fd 3, or the file that the third argument names.
import { closeSync, openSync } from 'node:fs';
import { FIRST } from '../../harness/contract/frame-flags.js';
import { createNativeMemory } from '../../harness/memory/native-memory.js';

const [, , specText = '', total = '0', path] = process.argv;
const memory = createNativeMemory();
const control = memory.attachControl(1, 4);
memory.bindControl(control);
const segmentFd = path === undefined ? 3 : openSync(path, 'r+');
const segment = memory.attachSegment(JSON.parse(specText), segmentFd);
const writer = segment.writer(0, 0);
if (path !== undefined) closeSync(segmentFd); // what is mapped stays
const { range } = writer;
const progress = control.progressWords(0);
for (let slot = 0; slot < writer.spec.slots; slot++) writer.activate(slot);

let published = 0;
while (published < Number(total)) {
  if (writer.claim(Math.min(writer.spec.slots, Number(total) - published)) === 0) {
    segment.waitWork(50);
    continue;
  }
  const slots = [...writer.resets.slice(0, writer.resetCount)];
  for (const slot of slots) range.flags[slot] = FIRST;
  for (let run = 0; run < writer.runCount; run++) {
    const first = writer.runs[2 * run] as number;
    for (let i = 0; i < (writer.runs[2 * run + 1] as number); i++) slots.push(first + i);
  }
  for (const slot of slots) {
    const action = range.action[slot * range.actionStride] as number;
    writer.views(slot, (range.cell[slot] as number) % writer.spec.cells).vector?.fill(action * 2 + slot);
  }
  published += writer.publish('full');
  progress[3] = published;
}
