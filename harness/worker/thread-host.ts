// Entry of a thread host, a process that runs several seats as threads: signals first, everything else after (see entry.ts).
import { takeSignals } from './stray-signals.js';

const ending = takeSignals();
const { beThreadHost } = await import('./host-process.js');
beThreadHost(ending);
