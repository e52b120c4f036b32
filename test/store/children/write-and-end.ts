// Opens a run writer, flushes one event and comes to the end of its script: the writer thread must not keep the process alive.
import { openRunWriter } from '../../../harness/store/threaded-run-writer.js';

const writer = openRunWriter(process.argv[2] ?? '');
writer.event({ type: 'run-started', at: '', runMs: 0, message: 'hello' });
void writer.flush().then(() => console.log(JSON.stringify(writer.counts())));
