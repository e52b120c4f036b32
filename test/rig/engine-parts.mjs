// Which parts of the engine are Pulumi's own on this computer and which are stand-ins: one place decides, the runner prints it and the tests
// build their Pulumi home from it.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const standIn = (file) => join(import.meta.dirname, 'stand-ins', file);

/** For a CLI at `pulumi`: its version and the two plugins, each `official` (a path) or to be replaced by `standIn` (a script for Node). */
export function engineParts(pulumi) {
  const version = spawnSync(pulumi, ['version'], { encoding: 'utf8' }).stdout.trim().replace(/^v/, '');
  const command = JSON.parse(readFileSync(require.resolve('@pulumi/command/package.json'), 'utf8')).pulumi.version;
  const host = join(dirname(realpathSync(pulumi)), 'pulumi-language-nodejs');
  const pluginFolder = `resource-command-v${command}`;
  const provider = join(process.env.PULUMI_HOME ?? join(homedir(), '.pulumi'), 'plugins', pluginFolder, 'pulumi-resource-command');
  return {
    version,
    plugins: [
      {
        name: 'language host',
        target: join('versions', version, 'bin', 'pulumi-language-nodejs'),
        official: existsSync(host) ? host : undefined,
        standIn: standIn('langhost.mjs'),
      },
      {
        name: 'command provider',
        target: join('plugins', pluginFolder, 'pulumi-resource-command'),
        official: existsSync(provider) ? provider : undefined,
        standIn: standIn('command-provider.mjs'),
      },
    ],
  };
}
