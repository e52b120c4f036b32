// Opens a run writer, hands in one event, flushes it if asked to, and comes to the end of its script: the writer thread must not keep the
// process alive either way.
import { openRunWriter } from '../../../harness/store/threaded-run-writer.js';

const writer = openRunWriter(process.argv[2] ?? '');
writer.event({ type: 'run-started', at: '', runMs: 0, message: 'hello' });
if (process.argv[3] === 'flush') void writer.flush().then(() => console.log(JSON.stringify(writer.counts())));
else console.log('unflushed');
