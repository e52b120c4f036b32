// `npm run rig:policy`: the policies of infra/policy over a stack that exists, on stdin; one line per broken rule, exit code 4 when there is one.
import { text } from 'node:stream/consumers';
import { EXIT } from '../../harness/contract/exit-codes.js';
import { deployedResources } from '../policy/deployment.js';
import { RULES, violations } from '../policy/rules.js';
import { runCli } from './run-cli.js';

const HELP = 'usage: npx pulumi stack export --show-secrets | npm run -s rig:policy\n';

await runCli(HELP, async () => {
  if (process.argv.length > 2) {
    process.stdout.write(HELP);
    return process.argv.includes('--help') || process.argv.includes('-h') ? EXIT.good : EXIT.usage;
  }
  const resources = deployedResources(await text(process.stdin));
  const found = resources.flatMap(violations);
  process.stdout.write(found.map((line) => `${line}\n`).join(''));
  process.stderr.write(`${RULES.length} rules, ${resources.length} resources, ${found.length} broken\n`);
  return found.length === 0 ? EXIT.good : EXIT.invalid;
});
