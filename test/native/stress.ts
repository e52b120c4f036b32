// The torn-read harness for hours: `node --import tsx test/native/stress.ts [--frames N]` runs 10^8 frames by default and ends with 1 if
// one was torn. Everyday tests run the same cases with 10^6.
import { parseArgs } from 'node:util';
import { program, runProgram } from './native-program.js';
import { CLEAN_CASES, MUTANTS, tornArguments } from './torn-frame-cases.js';

const CASE_SECONDS_MAX = 4 * 3600;
const { values } = parseArgs({
  options: { frames: { type: 'string', default: '100000000' }, seed: { type: 'string', default: String(Date.now() % 2 ** 31) } },
});
const frames = Number(values.frames);
const torn = program('torn-frames.plain');
if (!('path' in torn)) throw new Error(torn.missing);

let total = 0;
let bad = 0;
for (const tornCase of [...CLEAN_CASES, ...MUTANTS]) {
  const clean = CLEAN_CASES.includes(tornCase);
  const args = tornArguments(tornCase, clean ? frames : 1e6, Number(values.seed), CASE_SECONDS_MAX);
  const { status, said } = runProgram(torn.path, args, (CASE_SECONDS_MAX + 60) * 1000);
  const right = status === (clean ? 0 : 3);
  if (!right) bad++;
  if (clean) total += said.frames ?? 0;
  console.log(`${right ? 'ok ' : 'BAD'} ${clean ? '' : 'mutant '}exit ${status} ${JSON.stringify(said)}`);
}
console.log(`${total} frames, seed ${values.seed}: ${bad === 0 ? 'no frame torn, every mutant caught' : `${bad} cases failed`}`);
process.exitCode = bad === 0 ? 0 : 1;
