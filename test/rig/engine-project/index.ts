// Local commands only: what engine, language host and command provider do with them is the same over SSH, and needs no machine.
import { local } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';

const config = new pulumi.Config();
const log = config.require('log');
const step = (name: string, word: string): string => `echo ${name} ${word} >> ${log}`;

const first = new local.Command('first', {
  create: step('create', config.require('word')),
  update: step('update', config.require('word')),
  delete: step('delete', config.require('word')),
  triggers: [config.require('host')],
  addPreviousOutputInEnv: false,
});
export const echoed = new local.Command(
  'second',
  { create: 'cat', stdin: config.requireSecret('secret'), addPreviousOutputInEnv: false, logging: local.Logging.None },
  { dependsOn: first },
).stdout;
if (config.getBoolean('fail')) new local.Command('third', { create: 'echo the reason; exit 70' });
const held = config.get('held');
if (held) new local.Command('held', { create: `echo started >> ${log}; while [ -e ${held} ]; do sleep 0.1; done` });
