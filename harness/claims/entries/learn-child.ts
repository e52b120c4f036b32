// The process that trains for the learning claims: TensorFlow.js stays out of the process that measures, and whoever interrupts a claim kills
// a child instead of waiting for an update. One request at a time; ends with its parent.
import { openBackend } from '../../learner/backends.js';
import { type LearnRequest, learnMix } from '../learning/learn-mix.js';

/** wasm on every machine: the figures are counts, and equal seeds give equal ones. */
const backend = openBackend('wasm');

process.once('disconnect', () => process.exit(0));
process.on('message', (request: LearnRequest) => {
  backend
    .then((loaded) => learnMix(request, loaded))
    .then(
      (learned) => process.send?.({ learned }),
      (error: unknown) => process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
});
