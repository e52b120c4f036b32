// Entry of a worker process: signals first, everything else after. The rest is loaded from here on purpose: an import above would be
// loaded, with all it needs, before the first line runs.
import { takeSignals } from './stray-signals.js';

const ending = takeSignals();
const { beWorkerProcess } = await import('./worker-process.js');
beWorkerProcess(ending);
