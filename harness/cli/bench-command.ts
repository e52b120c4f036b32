// `envladder bench` (`npm run bench`): hands its arguments to the bench as they are; `--help` there says what it takes.
import type { Command } from 'commander';
import type { ExitCode } from '../contract/exit-codes.js';

/** Adds the command; `onExit` takes the exit code. */
export function addBenchCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command('bench')
    .description('speed of this machine, as ratios within one run; --peers puts gymnasium, envpool, pufferlib and SB3 beside it')
    .argument('[arguments...]', 'see: envladder bench --help')
    .helpOption(false)
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      // Only here: the benches use tinybench, which an installation without development packages does not have.
      const { runBenches } = await import('../bench/run-benches.js');
      onExit(await runBenches(words));
    });
}
