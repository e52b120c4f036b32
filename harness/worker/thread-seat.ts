// Entry of one seat's thread inside a thread host: the life of a worker process in a worker thread. `process.exit` ends this thread only;
// a segmentation fault ends the host with all its threads.
import { parentPort } from 'node:worker_threads';
import { CHILD_EXIT } from '../contract/child-exit-codes.js';
import type { FromWorker, ToWorker } from '../contract/messages.js';
import { portChannel } from './port-channel.js';
import { liveWorker } from './worker-life.js';

if (parentPort === null) throw new Error('thread-seat is the entry of a worker thread; thread-host starts it');

const channel = portChannel<FromWorker, ToWorker>(parentPort);
let living = false;
channel.onMessage((message) => {
  if (message.type === 'start') {
    living = true;
    void liveWorker(message, channel).then((code) => process.exit(code));
  } else if (!living && message.type === 'stop') process.exit(CHILD_EXIT.stopped);
});
