// `envladder env check KIND`: does a kind keep the contract, and how fast is it? For envs of one's own: --module ./my-env.ts.
import type { Command } from 'commander';
import { EnvladderError } from '../contract/errors.js';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { checkEnvKind } from '../ladder/env-commands.js';
import { parseWhole } from './compare-values.js';
import { watchCheck } from './watch-check.js';

const EXAMPLES = `
Examples:
  npm run -s envladder -- env check cartpole
  npm run -s envladder -- env check my-env --module ./my-env.ts
  npm run -s envladder -- env check my-env --module ./my-env.ts --config '{"size": 8}'

Exit code 0: it keeps the contract. 4: it does not; each line says what was found and what to do.`;

interface CheckFlags {
  readonly module?: string;
  readonly config?: string;
  readonly seed: string;
  readonly timeout: string;
  readonly json?: boolean;
}

/** What a timer can count. */
const MAX_TIMEOUT_SECONDS = 2_147_483;

/** Throws `bad-usage`. */
function parseTimeout(text: string): number {
  const seconds = text.trim() === '' ? Number.NaN : Number(text);
  if (seconds > 0 && seconds <= MAX_TIMEOUT_SECONDS) return seconds;
  throw new EnvladderError('bad-usage', `--timeout ${text}: give seconds above 0, at most ${MAX_TIMEOUT_SECONDS}`);
}

/** Adds the command. */
export function addEnvCheckCommand(group: Command, onExit: (code: ExitCode) => void): void {
  group
    .command('check')
    .argument('<kind>', 'env kind (see: envladder env list)')
    .description('check a kind against the env contract: spaces, seeds, episode edges, speed')
    .option('--module <file>', 'module that exports the kind')
    .option('--config <json>', "the kind's config")
    .option('--seed <n>', 'base seed', '1')
    .option('--timeout <seconds>', 'give up when the kind hangs', '120')
    .option('--json', 'print the checks as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (kind: string, flags: CheckFlags) => {
      const seed = parseWhole('--seed', flags.seed, 0, Number.MAX_SAFE_INTEGER);
      const release = watchCheck(kind, parseTimeout(flags.timeout));
      const { data: report, text } = await checkEnvKind({
        kind,
        module: flags.module,
        config: flags.config,
        seed,
        cwd: process.cwd(),
      });
      release();
      process.stdout.write(`${flags.json === true ? JSON.stringify(report, null, 2) : text}\n`);
      onExit(report.ok ? EXIT.good : EXIT.invalid);
    });
}
