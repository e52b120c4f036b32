// Entry of `npm run bench` and `npm run bench:learning`.
import { exitCodeFor } from '../contract/errors.js';
import { runBenches } from './run-benches.js';

process.exitCode = await runBenches(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return exitCodeFor(error);
});
