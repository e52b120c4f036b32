// Goal: what the program tells a script is what the script understands: same keys, values it accepts, the secrets it asks for. Each script's own
// parser decides, without root and without a host.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CONCERNS } from '../../infra/concern-names.js';
import { parseRigConfig } from '../../infra/config.js';
import { configHash, type DesiredConcern, desiredState } from '../../infra/desired.js';
import { rigSizing } from '../../infra/rig-sizing.js';
import { bundleScript } from '../../infra/script-bundle.js';
import { GPU_KEYS, SMALL_RIG, withKeys } from './program.js';

const RELEASE = { sha256: '3'.repeat(64), remotePath: '.envladder-rig/release-3333333333333333.tgz' };

function desiredOf(keys: Record<string, string | null>, base = SMALL_RIG): DesiredConcern[] {
  const { config } = parseRigConfig(withKeys(base, keys));
  return desiredState(config, rigSizing(config), config.release === undefined ? null : RELEASE);
}

const RIGS: Record<string, DesiredConcern[]> = {
  small: desiredOf({}),
  extras: desiredOf({
    packages: '["htop","libstdc++6"]',
    sysctls: '{"net.ipv4.ip_local_port_range":"20000 60000","vm.swappiness":10}',
    slices: '{"workers":{"cpus":"1","cpuWeight":50},"redis":{"tasksMax":64}}',
    redisReplicas: '0',
    kernelHold: 'false',
  }),
  GPU: desiredOf({ release: 'a.tgz', ladderPlan: 'smoke' }, { ...SMALL_RIG, ...GPU_KEYS }),
  'GPU without a reboot': desiredOf({ allowReboot: 'false', nvidiaRunfile: '/srv/mirror/driver.run' }, { ...SMALL_RIG, ...GPU_KEYS }),
};

/** The script up to the point where it would begin: reads its words, says which secrets it wants, ends. */
function parsed(folder: string, concern: DesiredConcern['concern'], words: readonly string[]) {
  const file = join(folder, `${concern}.sh`);
  const { text } = bundleScript(concern);
  assert.match(text, /^main "\$@"$/m, `${concern}.sh does not end with main`);
  writeFileSync(file, text.replace(/^main "\$@"$/m, 'parse_arguments "$@"\nprintf "secret %s\\n" "${SECRET_NAMES[@]-}" >&2\nexit 0'));
  const result = spawnSync('bash', [file, ...words], { encoding: 'utf8', timeout: 60_000 });
  const secrets = [...result.stderr.matchAll(/^secret (\S+)$/gm)].map(([, name]) => name);
  return { status: result.status, words: result.stderr, secrets: secrets.sort() };
}

describe('desired state', () => {
  for (const [what, desired] of Object.entries(RIGS)) {
    it(`of a rig (${what}) is understood by the scripts that are told of it`, () => {
      const folder = mkdtempSync(join(tmpdir(), 'rig-desired-'));
      for (const { concern, params, secrets } of desired) {
        const words = Object.entries(params).map(([key, value]) => `${key}=${value}`);
        const found = parsed(folder, concern, ['apply', ...words]);
        assert.equal(found.status, 0, `${concern}: ${found.words}`);
        assert.deepEqual(Object.keys(secrets).sort(), found.secrets, `${concern}: secrets`);
        assert.equal(parsed(folder, concern, ['apply', ...words, 'noSuchKey=1']).status, 64, concern);
      }
    });
  }

  it('names every script there is, and no other', () => {
    const scripts = readdirSync(join(import.meta.dirname, '../../infra/scripts')).filter((file) => !file.startsWith('lib'));
    assert.deepEqual(scripts.sort(), CONCERNS.map((concern) => `${concern}.sh`).sort());
    assert.deepEqual(
      RIGS['GPU']?.map(({ concern }) => concern),
      [...CONCERNS],
    );
  });

  it('never holds a value of a secret, and its hash follows its words', () => {
    const desired = RIGS['GPU'] ?? [];
    assert.doesNotMatch(JSON.stringify(desired), /nobody-sees/);
    assert.match(configHash(desired), /^[0-9a-f]{16}$/);
    assert.equal(configHash(desired), configHash(structuredClone(desired)));
    const changed = desired.map((each) => (each.concern === 'shm-janitor' ? { ...each, params: { ...each.params, minAgeS: '1' } } : each));
    assert.notEqual(configHash(changed), configHash(desired));
  });
});
