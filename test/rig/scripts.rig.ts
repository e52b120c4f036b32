// Goal: each script of the rig finds a clean host different, changes it once, goes on after a kill in the middle, names what somebody changed by
// hand and mends it, and puts everything back as it was: files, packages, users, units, kernel settings, cgroups.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConcernName } from '../../infra/concern-names.js';
import { differences, listHost } from './host-listing.js';
import type { Machine } from './machine.js';
import { machineFor, skip } from './rig.js';
import { type HostScript, hasSaid, scriptOn } from './script-on-host.js';

interface Case {
  readonly concern: ConcernName;
  readonly params: Readonly<Record<string, string>>;
  /** When an apply is killed. */
  readonly killWhen: string;
  /** What a person does to the host behind the rig's back, and how check calls it. */
  readonly drift: string;
  readonly named: readonly string[];
  /** What is particular about this concern, looked at while it is applied. */
  readonly look?: (machine: Machine, script: HostScript) => Promise<void>;
}

const SLICE_PARAMS = Object.fromEntries(
  Object.entries({ System: '0-1', Learner: '0', Redis: '0-1', Workers: '1' }).flatMap(([name, cpus]) => [
    [`cpus${name}`, cpus],
    [`cpuWeight${name}`, '150'],
    [`memoryLowMb${name}`, '16'],
    [`memoryHighMb${name}`, '400'],
    [`memoryMaxMb${name}`, '420'],
    [`tasksMax${name}`, '600'],
  ]),
);

const REDIS_SECRETS = 'admin=rig-test-admin-0123\napp=rig-test-app-012345\nreplica=rig-test-replica-01\n';
const asAdmin = 'REDISCLI_AUTH=rig-test-admin-0123 redis-cli --no-auth-warning --user admin';
const asApp = 'REDISCLI_AUTH=rig-test-app-012345 redis-cli --no-auth-warning --user app -p 6390';

async function lookAtSlices(machine: Machine): Promise<void> {
  // Every unit is one that systemd has nothing to say about.
  strictEqual(
    await machine.sh('systemd-analyze verify /etc/systemd/system/envladder*.slice /etc/systemd/system/envladder*.service 2>&1'),
    '',
  );
  // A supervisor that stands still is ended by the watchdog, and its children with it.
  await machine.sh(`
    systemctl start envladder@probe
    kill -STOP $(systemctl show -p MainPID --value envladder@probe)
    for _ in $(seq 300); do [ "$(systemctl show -p ActiveState --value envladder@probe)" = failed ] && break; sleep 1; done
    systemctl show -p Result --value envladder@probe | grep -qx watchdog`);
  strictEqual(await machine.sh('pgrep -u rigtest -f harness/learner/entry || true'), '');
  await machine.sh('systemctl reset-failed envladder@probe');
}

async function lookAtRedis(machine: Machine, script: HostScript): Promise<void> {
  strictEqual((await script.run('check', CASES.find(({ concern }) => concern === 'redis-trio')?.params)).after['afterRestart'], 'partial');
  // What a role may: its own keys, no others, nothing that rules.
  strictEqual(await machine.sh(`${asApp} SET envladder:run:info x EX 60`), 'OK');
  strictEqual(await machine.sh(`${asApp} XADD envladder:run:commands '*' json x >/dev/null && ${asApp} PUBLISH envladder:run:hint 1`), '0');
  for (const words of ['SET other:key x', 'FLUSHALL', 'CONFIG GET *', 'ACL LIST', 'PUBLISH other 1'])
    ok((await machine.sh(`${asApp} ${words} 2>&1`)).includes('NOPERM'), words);
  // Passwords are in files of root and of the server alone, and in no unit, log or process list.
  const readers = await machine.sh(
    `grep -rlsE 'rig-test-(admin|app|replica)' /etc /var/lib/envladder* /run /var/log 2>/dev/null | xargs stat -c '%a %U:%G %n' | sort`,
  );
  for (const line of readers.split('\n')) ok(/^(600 root:root|640 root:redis) /.test(line), line);
  strictEqual(await machine.sh("journalctl --no-pager | grep -cE 'rig-test-(admin|app|replica)' || true"), '0');
}

async function lookAtJanitor(machine: Machine): Promise<void> {
  await machine.sh(`
    sleep 0 & dead=$!; wait $dead
    cd /dev/shm
    echo x >rig-k-$dead-1-gone && cp /bin/sleep rig-k-$dead-2-mapped && chmod 755 rig-k-$dead-2-mapped && echo x >psm_foreign
    touch -d '2 hours ago' rig-k-* psm_foreign
    ./rig-k-$dead-2-mapped 60 & holder=$!
    /etc/cron.hourly/envladder-shm-janitor
    for _ in $(seq 120); do [ -e rig-k-$dead-1-gone ] || break; sleep 0.5; done
    until systemctl show -p ActiveState --value envladder-shm-janitor.service | grep -qx inactive; do sleep 0.5; done
    ls >/tmp/left; kill $holder; wait $holder || true
    systemctl start envladder-shm-janitor.service
    ls >>/tmp/left`);
  const left = (await machine.sh('cat /tmp/left; rm /tmp/left /dev/shm/psm_foreign')).replace(/rig-k-\d+-/g, '').split('\n');
  deepStrictEqual(left, ['psm_foreign', '2-mapped', 'psm_foreign'], 'what was mapped went after its last user, what is foreign stayed');
  ok((await machine.sh('journalctl -u envladder-shm-janitor -o cat --no-pager')).includes('"removed":1'), 'counts are in the journal');
}

const CASES: readonly Case[] = [
  {
    concern: 'base-system',
    params: {
      packages: 'tree,htop',
      sysctls: 'kernel.pid_max>=65536;vm.max_map_count>=262144;vm.overcommit_memory=1;vm.swappiness=1',
      nofile: '131072',
      kernelHold: 'yes',
    },
    killWhen: 'pgrep -x dpkg >/dev/null && pkill -KILL -x dpkg',
    drift:
      'sysctl -q -w vm.swappiness=33; apt-mark -q unhold linux-image-cloud-amd64; echo vm.max_map_count=70000 >/etc/sysctl.d/99-zzz.conf',
    named: ['sysctl:vm.swappiness', 'sysctl-at-boot:vm.max_map_count', 'hold:linux-image-cloud-amd64'],
    look: async (machine) => {
      strictEqual(await machine.sh('cat /proc/sys/kernel/pid_max'), '4194304', 'a setting that is higher already is not lowered');
    },
  },
  {
    concern: 'rig-slices',
    params: { ...SLICE_PARAMS, user: 'rigtest', uid: '611', envs: '64', nofile: '20000', watchdogS: '20' },
    killWhen: hasSaid('changed: file:/usr/local/lib/envladder/supervise'),
    drift: `systemctl set-property --runtime envladder-workers.slice CPUWeight=7
      echo 33554432 >/sys/fs/cgroup/envladder.slice/envladder-redis.slice/memory.high; rm /etc/systemd/system/envladder@.service`,
    named: ['file:/etc/systemd/system/envladder@.service', 'redis:memory.high', 'workers:cpu.weight', 'service'],
    look: lookAtSlices,
  },
  {
    concern: 'redis-trio',
    params: { port: '6390', replicas: '2', maxmemoryMb: '64' },
    killWhen: hasSaid('changed: file:/etc/envladder/redis/primary.conf'),
    drift: `systemctl stop envladder-redis@replica2; ${asAdmin} -p 6390 CONFIG SET maxmemory 1mb`,
    named: ['primary:maxmemory', 'replica2:ping', 'replica2:write-seen'],
    look: lookAtRedis,
  },
  {
    concern: 'shm-janitor',
    params: { prefix: 'rig-', minAgeS: '60' },
    killWhen: hasSaid('changed: file:/etc/systemd/system/envladder-shm-janitor.timer'),
    drift: 'systemctl stop envladder-shm-janitor.timer; chmod 644 /etc/cron.hourly/envladder-shm-janitor',
    named: ['file:/etc/cron.hourly/envladder-shm-janitor', 'timer'],
    look: lookAtJanitor,
  },
];

/** What an earlier concern would have made, for those whose case runs without it. */
const BEFORE: Partial<Record<ConcernName, string>> = {
  'redis-trio': 'sysctl -q -w vm.overcommit_memory=1; systemctl start envladder-redis.slice',
  'shm-janitor': 'systemctl start envladder-system.slice',
};

async function tryConcern({ concern, params, killWhen, drift, named, look }: Case, machine: Machine): Promise<void> {
  await machine.sh(BEFORE[concern] ?? 'true');
  const script = await scriptOn(machine, concern, concern === 'redis-trio' ? REDIS_SECRETS : '');
  const before = await listHost(machine);
  const clean = await script.run('check', params);
  strictEqual(clean.code, 1, clean.words);
  ok(clean.differs.length > 0 && !clean.changed);

  await script.killApply(killWhen, params);
  ok((await script.run('check', params)).differs.includes('unfinished'));
  const applied = await script.run('apply', params);
  deepStrictEqual([applied.code, applied.changed], [0, true], applied.words);
  const again = await script.run('apply', params);
  deepStrictEqual([again.code, again.changed], [0, false], again.words);

  await look?.(machine, script);
  await machine.sh(drift);
  const drifted = await script.run('check', params);
  strictEqual(drifted.code, 1, drifted.words);
  deepStrictEqual([...drifted.differs].sort(), [...named].sort(), drifted.words);
  await machine.sh('rm -f /etc/sysctl.d/99-zzz.conf');
  const mended = await script.run('apply', params);
  deepStrictEqual([mended.code, mended.changed], [0, true], mended.words);
  const good = await script.run('check', params);
  strictEqual(good.code, 0, good.words);

  const reverted = await script.run('revert');
  deepStrictEqual([reverted.code, reverted.changed], [0, true], reverted.words);
  const nothing = await script.run('revert');
  deepStrictEqual([nothing.code, nothing.changed], [0, false], nothing.words);
  const left = differences(before, await listHost(machine)).filter((line) => !line.includes('/run/lock/envladder'));
  deepStrictEqual(left, [], 'nothing is left, not even after two applies and a kill');
}

describe('scripts on a host', { skip }, () => {
  for (const each of CASES) it(each.concern, async (t) => tryConcern(each, await machineFor(t)));

  it('host-ready names every problem at once, keeps nothing of a host it refuses, and reverts what a failed apply left', async (t) => {
    const machine = await machineFor(t);
    const before = await listHost(machine);
    const script = await scriptOn(machine, 'host-ready');
    const refused = await script.run('apply', { minDiskMb: '99999999', needGpu: 'yes' });
    deepStrictEqual([refused.code, [...refused.differs]], [75, ['disk:/opt', 'disk:/var', 'disk:/tmp', 'gpu']], refused.words);
    strictEqual(await machine.sh('ls /var/lib | grep -c envladder || true'), '0');
    strictEqual((await script.run('apply', {})).code, 0);
    strictEqual((await script.run('check', {})).code, 0);
    const base = await scriptOn(machine, 'base-system');
    await base.killApply(hasSaid('changed: sysctl:vm.swappiness'), { sysctls: 'vm.swappiness=1' });
    const reverted = await script.run('revert');
    strictEqual(reverted.code, 0, reverted.words);
    deepStrictEqual(differences(before, await listHost(machine)), []);
  });

  it('reboots when a concern asked for it, and only then', async (t) => {
    const machine = await machineFor(t);
    const script = await scriptOn(machine, 'reboot');
    const boot = await machine.sh('cat /proc/sys/kernel/random/boot_id');
    const idle = await script.run('apply', {});
    deepStrictEqual([idle.code, idle.changed], [0, false], idle.words);
    await machine.sh('mkdir -p /run/envladder-rig && echo "nvidia-driver: a new module" >/run/envladder-rig/needs-reboot');
    const refused = await script.run('apply', { reboot: 'refused' });
    strictEqual(refused.code, 79, refused.words);
    strictEqual((await script.run('check', {})).code, 1);
    const asked = await script.run('apply', {});
    deepStrictEqual([asked.code, asked.changed], [0, true], asked.words);
    // The one who connects next waits for the new boot: the old one lets nobody in.
    let now = '';
    for (const end = Date.now() + 600_000; now === '' && Date.now() < end; )
      now = (await machine.trySh('cat /proc/sys/kernel/random/boot_id')).stdout.trim();
    ok(now !== '' && now !== boot, `boot ${boot} answered again`);
    const done = await script.run('check', {});
    deepStrictEqual([done.code, done.after['bootId']], [0, now], done.words);
    strictEqual((await script.run('revert')).code, 0);
  });
});
