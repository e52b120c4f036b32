// `npm run rig:ladder`: a ladder on the rig of the stack, as if it ran here: its lines on stdout, its exit code, its run folder under runs/.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { EnvladderError } from '../../harness/contract/errors.js';
import { EXIT } from '../../harness/contract/exit-codes.js';
import { climbOnRig, fetchFromRig } from '../ladder.js';
import { readStack } from '../rig-stack.js';
import { sshTarget } from '../ssh-session.js';
import { runCli } from './run-cli.js';

const HELP = `usage: npm run rig:ladder -- --plan PLAN [--out FOLDER] [--patience SECONDS] [-- OPTIONS OF envladder ladder]
       npm run rig:ladder -- --attach PLAN     follow the ladder that runs there, and fetch it
       npm run rig:ladder -- --fetch RUN       fetch a run folder by its name

Starts the ladder on the host of the stack in its own service, streams it, fetches the run folder to FOLDER (default: runs).
Ctrl-C and lost connections do not end it. Exit code: the ladder's; 130 after Ctrl-C.
More: --stack NAME, --config-file FILE.
`;

await runCli(HELP, async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      plan: { type: 'string' },
      attach: { type: 'string' },
      fetch: { type: 'string' },
      out: { type: 'string' },
      patience: { type: 'string', default: '600' },
      stack: { type: 'string' },
      'config-file': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return EXIT.good;
  }
  if ([values.plan, values.attach, values.fetch].filter((value) => value !== undefined).length !== 1)
    throw new EnvladderError('bad-usage', `one of --plan, --attach and --fetch is needed\n\n${HELP}`);
  const patience = Number(values.patience);
  if (!(patience >= 0 && patience <= 86_400))
    throw new EnvladderError('bad-usage', `--patience is 0 to 86400 seconds, not '${values.patience}'`);
  const { settings, output } = readStack({ stack: values.stack, configFile: values['config-file'] });
  const target = sshTarget(settings);
  const outDir = resolve(values.out ?? join(import.meta.dirname, '..', '..', 'runs'));
  if (values.fetch !== undefined) {
    process.stdout.write(`${await fetchFromRig(target, values.fetch, outDir)}\n`);
    return EXIT.good;
  }
  const letGo = new AbortController();
  process.once('SIGINT', () => letGo.abort());
  process.once('SIGTERM', () => letGo.abort());
  return climbOnRig({
    target,
    plan: values.plan ?? values.attach ?? '',
    options: positionals.join(' '),
    configHash: output?.configHash ?? null,
    start: values.plan !== undefined,
    outDir,
    patienceMs: patience * 1000,
    signal: letGo.signal,
    onLine: (line) => void process.stdout.write(`${line}\n`),
    onNotice: (message) => void process.stderr.write(`${message}\n`),
  });
});
