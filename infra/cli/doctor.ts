// `npm run rig:doctor`: examines the rig. JSON on stdout, words for people on stderr. Ends with 0 as wanted, 1 drift, 2 nothing could be learnt
// (the host cannot be reached, there is no stack, or its config is wrong).
import { parseArgs } from 'node:util';
import { EnvladderError } from '../../harness/contract/errors.js';
import { EXIT } from '../../harness/contract/exit-codes.js';
import { desiredState } from '../desired.js';
import { type ConcernReport, DOCTOR_EXIT, type DoctorReport, examineRig, unreachableReport } from '../doctor.js';
import { rigSizing } from '../rig-sizing.js';
import { readStack } from '../rig-stack.js';
import { releaseForChecks } from '../settled-release.js';
import { isUnreachable, openSsh, sshTarget } from '../ssh-session.js';
import { runCli } from './run-cli.js';

const HELP = `usage: npm run rig:doctor -- [--stack NAME] [--config-file FILE]

Runs every concern's check on the host of the stack and compares with what pulumi up was told.
JSON on stdout (docs/rig.md has the names). Exit codes: 0 as wanted, 1 drift, 2 the host cannot be reached or there is no stack.
`;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

function sayConcern({ concern, status, differs, words }: ConcernReport): void {
  say(
    `${status === 'ok' ? 'ok    ' : status === 'drift' ? 'DRIFT ' : 'FAILED'} ${concern}${differs.length === 0 ? '' : `: ${differs.join(', ')}`}`,
  );
  if (status === 'failed') for (const line of words) say(`         ${line}`);
}

async function examine(options: { stack?: string | undefined; configFile?: string | undefined }): Promise<DoctorReport> {
  const { settings, output } = readStack(options);
  if (output === null) throw new EnvladderError('bad-usage', 'this stack has no rig yet: run pulumi up first');
  const desired = desiredState(settings.config, rigSizing(settings.config), releaseForChecks(settings.config.release, output));
  try {
    const session = await openSsh(sshTarget(settings));
    try {
      return await examineRig({ output, settings, desired, session, onReport: sayConcern });
    } finally {
      session.close();
    }
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    return unreachableReport({ output, desired }, error.message);
  }
}

await runCli(HELP, async () => {
  const { values } = parseArgs({
    options: { stack: { type: 'string' }, 'config-file': { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return EXIT.good;
  }
  let report: DoctorReport;
  try {
    report = await examine({ stack: values.stack, configFile: values['config-file'] });
  } catch (error) {
    // 1 is the word for drift: whatever kept us from looking must not read as that.
    if (!(error instanceof EnvladderError)) throw error;
    say(error.message);
    return DOCTOR_EXIT.unreachable;
  }
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  const { pending } = report.config;
  if (pending.length > 0) say(`the config has changed since the last pulumi up: ${pending.join(', ')}`);
  for (const { concern, status } of report.concerns)
    if (status === 'drift') say(`to mend ${concern}: npx pulumi config set --path repair.${concern} "$(date +%s)" && npx pulumi up`);
  say(report.status === 'ok' ? 'the rig is as the stack says' : (report.problem ?? 'the rig differs; docs/runbook.md has a page on drift'));
  return DOCTOR_EXIT[report.status];
});
