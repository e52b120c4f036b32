// The process that rows 38 and 39 let fail: writes one checkpoint of a small made-up policy with the learner's own code and prints what a
// supervisor would have heard. Arguments: folder, step.
import { createCheckpointer } from '../learner/checkpointer.js';
import { madePolicy } from './made-policy.js';

const WITHIN_MS = 60_000;

const [, , folder = '', step = ''] = process.argv;
const checkpointer = createCheckpointer({
  folder,
  runId: 'chaos',
  policies: [madePolicy(Number(step))],
  intervalSeconds: 1,
  nowMs: () => performance.now(),
  send: (message) => console.log(JSON.stringify(message)),
});
await checkpointer.finish('stop', WITHIN_MS);
