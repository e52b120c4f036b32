// Child of beats.test.ts: beats on line 0 of the inherited control page and then spins or ends.
import { createNativeMemory } from '../../harness/memory/native-memory.js';

const control = createNativeMemory().attachControl(2, 3);
control.beat(0, 5);
const mode = process.argv[2];
control.stampWords(0)[1] = control.progress(0).nativeMs;
if (mode === 'spin') for (;;);
if (mode === 'exit') process.exit(5);
if (mode === 'throw') throw new Error('its own error');
