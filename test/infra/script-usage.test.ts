// Goal: the scripts of the base system, the slices, Redis, the janitor, the anchor and the reboot refuse values they cannot work with before
// anything is touched, and name the key.
import { match, ok, strictEqual } from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { runScript, SCRIPTS } from './run-script.js';

const SLICES = ['System', 'Learner', 'Redis', 'Workers'].flatMap((name) => [
  `cpus${name}=0-1`,
  `memoryHighMb${name}=64`,
  `memoryMaxMb${name}=80`,
  `tasksMax${name}=100`,
]);

const REFUSED: readonly [script: string, words: readonly string[], error: RegExp][] = [
  ['host-ready', ['minDiskMb=much'], /^minDiskMb must be a whole number/],
  ['host-ready', ['needGpu=true'], /^needGpu must be yes or no/],
  ['base-system', ['packages=tree,-rf'], /^packages must be package names/],
  ['base-system', ['packages=tree, htop'], /^packages must be/],
  ['base-system', ['sysctls=vm.swappiness'], /^sysctls must be key=value/],
  ['base-system', ['sysctls=vm.swappiness=1;$(reboot)=2'], /^sysctls must be/],
  ['base-system', ['nofile=12'], /^nofile must be/],
  ['reboot', ['reboot=now'], /^reboot must be allowed or refused/],
  ['rig-slices', [...SLICES], /^uid is missing: a number from 100 to 999/],
  ['rig-slices', ['uid=1000', ...SLICES], /^uid must be a number from 100 to 999/],
  [
    'rig-slices',
    ['uid=610', 'cpusWorkers=1-', ...SLICES.filter((word) => !word.startsWith('cpusWorkers'))],
    /^cpusWorkers must be a list of CPUs/,
  ],
  ['rig-slices', ['uid=610', 'user=Root', ...SLICES], /^user must be the name of a user/],
  ['redis-trio', ['maxmemoryMb=64', 'port=80'], /^port must be a port from 1024/],
  ['redis-trio', ['maxmemoryMb=64', 'replicas=9'], /^replicas must be a number from 0 to 8/],
  ['redis-trio', ['maxmemoryMb=64', 'admin=hunter2hunter2hunter2'], /^unknown key 'admin'/],
  ['shm-janitor', ['prefix=*'], /^prefix must be 3 to 32/],
  ['shm-janitor', ['minAgeS=60'], /^prefix is missing/],
];

describe('refusals', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rig-usage-'));
  const state = join(folder, 'state');
  after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [script, words, error] of REFUSED) {
    it(`${script} ${words[0]} ...`, () => {
      for (const action of ['check', 'apply']) {
        const answer = runScript(join(SCRIPTS, `${script}.sh`), [action, ...words], { state });
        strictEqual(answer.code, 64, answer.stderr);
        match(String(answer.json['error']), error);
        strictEqual(answer.json['concern'], script);
        strictEqual(answer.json['action'], action);
      }
      ok(!existsSync(state));
    });
  }

  it('redis-trio refuses a password that would break an address, without repeating it', () => {
    const script = join(SCRIPTS, 'redis-trio.sh');
    const input = 'admin=0123456789abcdef\napp=p@ss:word/with?signs\nreplica=0123456789abcdef\n';
    const answer = runScript(script, ['apply', 'maxmemoryMb=64'], { state, input });
    strictEqual(answer.code, 64, answer.stderr);
    match(String(answer.json['error']), /^secret app must be 16 to 128 letters/);
    ok(!existsSync(state));
    ok(!`${answer.stdout}${answer.stderr}`.includes('p@ss'));
  });
});
