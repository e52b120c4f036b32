// Goal: a config that cannot become a rig is refused before anything is registered, with every wrong key named at once and no secret shown.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EnvladderError } from '../../harness/contract/errors.js';
import { isLoopback, parseRigConfig } from '../../infra/config.js';
import { RIG_KEYS, RIG_SECRETS } from '../../infra/config-schema.js';
import { GPU_KEYS, runProgram, SMALL_RIG, withKeys } from './program.js';

function refusal(config: Parameters<typeof parseRigConfig>[0]): string {
  try {
    parseRigConfig(config);
  } catch (error) {
    assert.ok(error instanceof EnvladderError && error.code === 'bad-plan', String(error));
    return error.message;
  }
  return '';
}

const wrong: [string, Record<string, string | null>, RegExp][] = [
  ['no host', { host: null }, /envladder:host is missing/],
  ['a host with a space', { host: 'a b' }, /envladder:host: must be a host name/],
  ['a host that is an option', { host: '-oProxyCommand=x' }, /envladder:host: /],
  ['no host key for a host elsewhere', { hostKey: null }, /envladder:hostKey is missing.*not loopback/],
  ['an rsa host key', { hostKey: `ssh-rsa ${'A'.repeat(68)}` }, /envladder:hostKey: must be the ssh-ed25519 line/],
  ['no way to log in', { privateKey: null }, /envladder:privateKey or envladder:agentSocket is missing/],
  ['a port of words', { port: 'ssh' }, /envladder:port: must be a whole number from 1 to 65535/],
  ['a port out of range', { port: '70000' }, /envladder:port: must be a whole number/],
  ['no cores', { cores: null }, /envladder:cores is missing/],
  ['no envs', { envs: '0' }, /envladder:envs: /],
  ['an odd number of hardware threads', { cores: '3', threadsPerCore: '2' }, /envladder:cores is 3, which is not even/],
  ['a flag of another language', { kernelHold: 'yes' }, /envladder:kernelHold: must be true or false/],
  ['packages that are no list', { packages: 'htop' }, /envladder:packages: must be JSON/],
  ['a package with a shell in it', { packages: '["htop; rm -rf /"]' }, /envladder:packages\.0: must be names of packages/],
  ['a sysctl value with a quote', { sysctls: '{"vm.swappiness":"1; x"}' }, /envladder:sysctls/],
  ['an unknown slice', { slices: '{"database":{"cpuWeight":1}}' }, /envladder:slices/],
  ['a weight of nothing', { slices: '{"workers":{"cpuWeight":0}}' }, /envladder:slices\.workers\.cpuWeight/],
  [
    'a slice whose high is over its max',
    { slices: '{"redis":{"memoryHighBytes":200000000,"memoryMaxBytes":100000000}}' },
    /slices\.redis\.memoryHighBytes is over/,
  ],
  ['GPUs without a driver file', { gpus: '4' }, /envladder:nvidiaRunfile is missing: gpus is over 0/],
  ['a driver file without GPUs', { nvidiaRunfile: '/srv/driver.run' }, /envladder:nvidiaRunfile is set, but gpus is 0/],
  ['Node without a checksum', { nodeSha256: null }, /envladder:nodeSha256 is missing/],
  ['a checksum of another length', { nodeSha256: 'abc' }, /envladder:nodeSha256: must be a SHA-256/],
  ['a Node that the learner cannot use', { nodeVersion: '24.1.0' }, /envladder:nodeVersion: must be a version of Node 20 or 22/],
  ['a release without Node', { release: 'a.tgz', nodeArchive: null, nodeSha256: null }, /envladder:nodeArchive is missing: release is set/],
  ['a ladder without a release', { ladderPlan: 'smoke' }, /envladder:release is missing: ladderPlan is set/],
  ['Redis without its passwords', { redisAppPassword: null }, /envladder:redisAppPassword is missing: redis is on/],
  ['a short password', { redisAppPassword: 'hidden' }, /envladder:redisAppPassword must be 16 to 128 letters/],
  ['a repair of nothing', { repair: '{"database":"1"}' }, /envladder:repair/],
  ['a repair with a shell in it', { repair: '{"redis-trio":"1; reboot"}' }, /envladder:repair\.redis-trio/],
  ['a key that is unknown', { hots: 'rig' }, /envladder:hots is unknown; docs\/rig\.md/],
];

describe('config of a rig', () => {
  it('takes a small rig and a GPU rig, and fills in what was not said', () => {
    const { config, secrets } = parseRigConfig(SMALL_RIG);
    assert.deepEqual([config.port, config.gpus, config.redisReplicas, config.hostGone, config.packages], [22, 0, 2, false, []]);
    assert.equal(secrets.redisAppPassword, 'nobody-sees-app-password');
    assert.equal(parseRigConfig({ ...SMALL_RIG, ...GPU_KEYS }).config.gpus, 4);
    assert.equal(parseRigConfig(withKeys(SMALL_RIG, { host: '127.0.0.1', hostKey: null })).config.host, '127.0.0.1');
  });

  for (const [what, keys, words] of wrong) {
    it(`refuses ${what} and names the key`, () => assert.match(refusal(withKeys(SMALL_RIG, keys)), words));
  }

  it('names every problem at once', () => {
    const message = refusal(withKeys(SMALL_RIG, { cores: 'many', port: '0', hots: 'x', redisAppPassword: 'short' }));
    for (const key of ['cores', 'port', 'hots', 'redisAppPassword']) assert.match(message, new RegExp(`envladder:${key}\\b`));
  });

  it('refuses a secret that was set in plain text, and never shows a secret', () => {
    const plain = { ...SMALL_RIG, 'envladder:redisAppPassword': { value: 'everybody-saw-this-one', secret: false } };
    assert.match(refusal(plain), /envladder:redisAppPassword was set in plain text/);
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{4} [a-z]{4}$/), (bad) => {
        for (const key of ['redisAppPassword', 'privateKey']) {
          const message = refusal({ ...SMALL_RIG, [`envladder:${key}`]: { value: bad, secret: true } });
          assert.ok(message.includes(key) && !message.includes(bad), message);
        }
      }),
    );
  });

  it('leaves keys of other projects alone', () => {
    assert.equal(refusal({ ...SMALL_RIG, 'aws:region': { value: 'x', secret: false } }), '');
  });

  it('has its keys in docs/rig.md, all of them and no other', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/rig.md'), 'utf8');
    const table = page.slice(page.indexOf('## Keys'), page.indexOf('## How it works'));
    const rows = table.split('\n').filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([A-Za-z0-9]+)`/g)].map(([, key]) => key));
    assert.deepEqual(named.toSorted(), [...Object.keys(RIG_KEYS), ...RIG_SECRETS].toSorted());
    const marked = rows
      .filter((row) => row.includes('*secret*'))
      .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([A-Za-z0-9]+)`/g)].map(([, key]) => key));
    assert.deepEqual(marked.toSorted(), [...RIG_SECRETS].toSorted());
  });

  it('takes no name that only begins like loopback for loopback', () => {
    for (const host of ['localhost', '127.0.0.1', '127.255.0.3', '::1']) assert.ok(isLoopback(host), host);
    for (const host of ['localhost.example', '127.0.0.1.example', '128.0.0.1', '10.0.0.1']) assert.ok(!isLoopback(host), host);
  });

  it('ends the program before a resource is registered', async () => {
    const tooBig = { envs: '20000', obsBytes: '602112', ramMb: '4096' };
    for (const keys of [{ cores: null }, { hostKey: null }, { release: 'no/such/file.tgz' }, tooBig]) {
      const { resources, error } = await runProgram(withKeys(SMALL_RIG, keys));
      assert.ok(error instanceof Error, JSON.stringify(keys));
      assert.deepEqual(
        resources.map(({ name }) => name),
        [],
        JSON.stringify(keys),
      );
    }
  });
});
