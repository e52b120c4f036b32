// Goal: a command that would leave something behind, trust anybody, or show a secret is named before it is ever run on a host.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import { deployedResources } from '../../infra/policy/deployment.js';
import { RULES, violations } from '../../infra/policy/rules.js';
import { WAIVERS } from '../../infra/policy/waivers.js';
import { GPU_KEYS, runProgram, SMALL_RIG } from './program.js';

const connection = {
  host: 'rig.example',
  user: 'root',
  hostKey: 'ssh-ed25519 AAAA',
  privateKey: '-----BEGIN X-----\nthe-private-key\n-----END X-----',
};
const good = {
  type: 'command:remote:Command',
  name: 'a-command',
  inputs: {
    connection,
    create: 'bash a.sh apply',
    update: 'bash a.sh apply',
    delete: 'bash a.sh revert',
    addPreviousOutputInEnv: false,
    logging: 'none',
    stdin: 'admin=the-admin-password\n',
  } as Record<string, unknown>,
};
const copy = {
  type: 'command:remote:CopyToRemote',
  name: 'a-copy',
  inputs: { connection, remotePath: '.envladder-rig/0123/a.sh', source: { text: 'echo' } },
};

/** Each case: what is changed about a good command, and the one rule that must speak. */
const cases: [string, string, Record<string, unknown>][] = [
  ['no delete', 'command-has-delete', { delete: undefined }],
  ['an empty delete', 'command-has-delete', { delete: '' }],
  ['an update that is not the create', 'update-is-create', { update: 'bash a.sh update' }],
  ['no update', 'update-is-create', { update: undefined }],
  ['no host key', 'host-key-pinned', { connection: { ...connection, hostKey: undefined } }],
  ['an rsa host key', 'host-key-pinned', { connection: { ...connection, hostKey: 'ssh-rsa AAAA' } }],
  ['an environment', 'no-environment', { environment: { A: '1' } }],
  ['the previous output left on', 'no-previous-output', { addPreviousOutputInEnv: undefined }],
  [
    'a password of stdin in the text',
    'no-secret-in-text',
    { create: 'bash a.sh apply x=the-admin-password', update: 'bash a.sh apply x=the-admin-password' },
  ],
  ['the private key in the text', 'no-secret-in-text', { delete: "echo 'the-private-key'" }],
  ['a log beside a secret', 'quiet-where-secret', { logging: 'stderr' }],
  ['a log left on beside a secret', 'quiet-where-secret', { logging: undefined }],
];

describe('policy of the rig', () => {
  it('lets a good command and a good upload pass', () => {
    assert.deepEqual(violations(good), []);
    assert.deepEqual(violations(copy), []);
  });

  for (const [what, rule, change] of cases) {
    it(`refuses ${what}`, () => {
      const found = violations({ ...good, inputs: { ...good.inputs, ...change } });
      assert.deepEqual(
        found.map((line) => line.split(':')[0]),
        [rule],
      );
      assert.doesNotMatch(found.join(), /the-admin-password|the-private-key/);
    });
  }

  it('refuses an upload outside the one folder, and an upload to a host without a key', () => {
    for (const remotePath of ['/tmp/a.sh', 'a.sh', '.envladder-rig/../a.sh']) {
      assert.match(violations({ ...copy, inputs: { ...copy.inputs, remotePath } }).join(), /^uploads-in-one-folder/);
    }
    assert.match(violations({ ...copy, inputs: { ...copy.inputs, connection: { host: 'rig.example' } } }).join(), /^host-key-pinned/);
  });

  it('lets loopback go without a key, and takes nothing else for loopback', () => {
    const on = (host: string) =>
      violations({ ...good, inputs: { ...good.inputs, connection: { ...connection, host, hostKey: undefined } } });
    for (const host of ['localhost', '127.0.0.1', '127.3.2.1', '::1']) assert.deepEqual(on(host), []);
    for (const host of ['localhost.example', '127.0.0.1.example', '10.0.0.1', '1127.0.0.1']) assert.equal(on(host).length, 1, host);
  });

  it('is obeyed by every resource of a small rig and of a GPU rig', async () => {
    for (const config of [SMALL_RIG, { ...SMALL_RIG, ...GPU_KEYS }]) {
      const { resources } = await runProgram(config);
      assert.deepEqual(resources.flatMap(violations), []);
    }
  });

  it('waives only commands that are in the program, each with a reason', async () => {
    const { resources } = await runProgram({ ...SMALL_RIG, ...GPU_KEYS });
    const withoutDelete = resources.filter(({ type, inputs }) => type === 'command:remote:Command' && inputs['delete'] === undefined);
    assert.deepEqual(withoutDelete.map(({ name }) => name).sort(), Object.keys(WAIVERS).sort());
    for (const reason of Object.values(WAIVERS)) assert.ok(reason.length > 20);
  });

  it('has a case here for every rule', () => {
    const spoken = new Set([...cases.map(([, rule]) => rule), 'uploads-in-one-folder']);
    assert.deepEqual(
      RULES.map(({ name }) => name).filter((name) => !spoken.has(name)),
      [],
    );
  });
});

describe('policy over a stack that exists', () => {
  const secret = (value: unknown) => ({
    '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270',
    plaintext: JSON.stringify(value),
  });
  const exported = (change: Record<string, unknown> = {}) => ({
    version: 3,
    deployment: {
      resources: [
        { urn: 'urn:pulumi:rig::envladder::pulumi:pulumi:Stack::envladder-rig', type: 'pulumi:pulumi:Stack' },
        {
          urn: 'urn:pulumi:rig::envladder::envladder:rig:A$command:remote:Command::a-command',
          type: good.type,
          inputs: { ...good.inputs, connection: secret(connection), stdin: secret(good.inputs['stdin']), ...change },
        },
      ],
    },
  });

  it('finds in an export what it would have found in the program', () => {
    assert.deepEqual(deployedResources(JSON.stringify(exported())).flatMap(violations), []);
    const leaking = JSON.stringify(exported({ create: 'a the-admin-password', update: 'a the-admin-password' }));
    assert.match(deployedResources(leaking).flatMap(violations).join(), /^no-secret-in-text: a-command/);
  });

  it('takes encrypted secrets, other JSON and other text for a wrong use and not for a pass', () => {
    const encrypted = JSON.stringify(exported()).replaceAll('plaintext', 'ciphertext');
    for (const text of [encrypted, '{"resources":[]}', 'Stack envladder']) {
      assert.throws(
        () => deployedResources(text),
        (error: unknown) => error instanceof EnvladderError && error.code === 'bad-usage',
        text.slice(0, 30),
      );
    }
  });

  it('is a command that ends with 4 when a rule is broken', () => {
    const run = (input: string) =>
      spawnSync(process.execPath, ['--import', 'tsx', 'infra/cli/policy.ts'], {
        cwd: join(import.meta.dirname, '../..'),
        input,
        encoding: 'utf8',
        timeout: 120_000,
      });
    assert.equal(run(JSON.stringify(exported())).status, 0);
    const broken = run(JSON.stringify(exported({ delete: undefined })));
    assert.equal(broken.status, 4);
    assert.match(broken.stdout, /^command-has-delete: a-command/);
    assert.equal(run('no JSON').status, 2);
  });
});
