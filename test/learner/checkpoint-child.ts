// Child of checkpoint-torture.test.ts: writes the checkpoint of step argv[3] into folder argv[2] with the learner's own code, and prints
// what a supervisor would have heard.
import { createCheckpointer } from '../../harness/learner/checkpointer.js';
import { policyOf } from './made-policy.js';

const [, , folder = '', step = ''] = process.argv;
const checkpointer = createCheckpointer({
  folder,
  runId: 'torture',
  policies: [policyOf(Number(step), Number(step))],
  intervalSeconds: 1,
  nowMs: () => performance.now(),
  send: (message) => console.log(JSON.stringify(message)),
});
await checkpointer.finish('stop', 30_000);
