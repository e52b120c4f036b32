// Worker thread of beats.test.ts: attaches what the main thread made, beats, publishes a few frames, and ends as it is told to.
import { workerData } from 'node:worker_threads';
import { FIRST } from '../../harness/contract/frame-flags.js';
import type { SegmentSpec } from '../../harness/memory/interface.js';
import { createNativeMemory } from '../../harness/memory/native-memory.js';

export interface BeatingData {
  readonly spec: SegmentSpec;
  readonly segmentFd: number;
  readonly controlFd: number;
  readonly lines: number;
  readonly end: 'return' | 'close' | 'throw' | 'exit' | 'wait';
}

const data = workerData as BeatingData;
const memory = createNativeMemory();
const control = memory.attachControl(data.lines, data.controlFd);
memory.bindControl(control);
const segment = memory.attachSegment(data.spec, data.segmentFd);
control.beat(data.spec.worker, 1);
const writer = segment.writer(0, 0);
for (let slot = 0; slot < writer.spec.slots; slot++) writer.activate(slot);
writer.claim(writer.spec.slots);
writer.range.flags.fill(FIRST);
writer.publish('full');
if (data.end === 'close') control.close();
if (data.end === 'throw') throw new Error('the thread ends in an error');
if (data.end === 'exit') process.exit(7);
if (data.end === 'wait') setInterval(() => undefined, 1_000);
