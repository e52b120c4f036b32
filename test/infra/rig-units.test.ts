// Goal: the unit files and configurations that the scripts write are ones that systemd and Redis have nothing to say about, hold what the design
// asks of them, and depend on the parameters alone. Written into a folder of the test; no machine is touched.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { SCRIPTS } from './run-script.js';

const folder = mkdtempSync(join(tmpdir(), 'rig-units-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const PARAMS = {
  'rig-slices': [
    ['user=root', 'uid=610', 'nofile=16384', 'rtprio=50', 'watchdogS=60', 'ioMaxMbsWorkers=200'],
    ...['System', 'Learner', 'Redis', 'Workers'].map((name) => [
      `cpus${name}=0-3,8`,
      `cpuWeight${name}=200`,
      `memoryLowMb${name}=10`,
      `memoryHighMb${name}=90`,
      `memoryMaxMb${name}=100`,
      `tasksMax${name}=512`,
    ]),
  ].flat(),
  'redis-trio': ['port=6390', 'replicas=2', 'maxmemoryMb=64'],
  'shm-janitor': ['prefix=rig-', 'minAgeS=60'],
} as const;
type Script = keyof typeof PARAMS;

/** The files a script would write, by their names. The script runs but for its last line, with want_file writing here. */
function filesOf(script: Script, setUp = ''): Record<string, string> {
  const out = mkdtempSync(join(folder, `${script}-`));
  const program = `source <(sed '$d' "$0")
    parse_arguments check "$@"
    ${setUp}
    want_file() { cat >"${out}/\${1##*/}"; }
    want_dir() { :; }
    want_link() { :; }
    if declare -F want_units >/dev/null; then want_units; else want_files; fi`;
  const run = spawnSync('bash', ['-c', program, join(SCRIPTS, `${script}.sh`), ...PARAMS[script]], { encoding: 'utf8', timeout: 120_000 });
  strictEqual(run.status, 0, run.stderr);
  return Object.fromEntries(readdirSync(out).map((name) => [name, readFileSync(join(out, name), 'utf8')]));
}
const redis = (version: string) =>
  filesOf('redis-trio', `VERSION=${version}; SECRET=([admin]=admin-0123456789 [app]=app-0123456789-0 [replica]=replica-01234567)`);

const noVerify = spawnSync('systemd-analyze', ['--version']).status === 0 ? false : 'SKIPPED(systemd-analyze is not installed)';

/** What `systemd-analyze verify` says of units whose programs are on another machine. */
function verify(files: Record<string, string>): string {
  const units = mkdtempSync(join(folder, 'verify-'));
  for (const [name, text] of Object.entries(files))
    if (/\.(service|slice|timer)$/.test(name))
      writeFileSync(join(units, name), text.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true').replace(/^(User|Group)=redis$/gm, '$1=root'));
  const names = readdirSync(units).map((name) => join(units, name.replace('@.', '@x.')));
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...names], {
    encoding: 'utf8',
    env: { ...process.env, SYSTEMD_UNIT_PATH: `${units}:` },
    timeout: 120_000,
  });
  // Units of this computer are not ours to judge.
  return `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line.includes(units) || line.includes('envladder'))
    .join('\n');
}

describe('units of the rig', () => {
  it('systemd has nothing to say about them', { skip: noVerify }, () => {
    for (const files of [filesOf('rig-slices'), filesOf('shm-janitor'), redis('7.0.15'), redis('6.0.16')]) strictEqual(verify(files), '');
  });

  it('and it would say so', { skip: noVerify }, () => {
    ok(verify({ 'envladder-x.service': '[Service]\nExecStart=/bin/true\nDelegateMe=yes\n' }).includes('DelegateMe'));
  });

  it('the service of a ladder is delegated, watched and bounded', () => {
    const files = filesOf('rig-slices');
    const unit = files['envladder@.service'] ?? '';
    for (const line of [
      'Type=notify',
      'Delegate=cpu cpuset io memory pids',
      'WatchdogSec=60',
      'OOMPolicy=continue',
      'KillMode=mixed',
      'LimitNOFILE=16384',
      'LimitRTPRIO=50',
      'AmbientCapabilities=CAP_SYS_NICE',
      'CapabilityBoundingSet=CAP_SYS_NICE',
      'Slice=envladder-workers.slice',
    ])
      ok(unit.split('\n').includes(line), line);
    // These would break Node, SCHED_FIFO and the delegation.
    ok(!/^(MemoryDenyWriteExecute|RestrictRealtime|ProtectControlGroups|PrivateDevices)=/m.test(unit));
    match(files['envladder.slice'] ?? '', /MemoryLow=40M\nTasksMax=2048/);
    match(files['envladder-workers.slice'] ?? '', /AllowedCPUs=0-3,8\n[\s\S]*IOWriteBandwidthMax=\/var\/lib\/envladder 200M/);
  });

  it('programs for the host parse, and are what was linted', () => {
    for (const [name, text] of Object.entries({ ...filesOf('rig-slices'), ...filesOf('shm-janitor') })) {
      if (!text.startsWith('#!')) continue;
      const parsed = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
      deepStrictEqual([parsed.status, parsed.stderr], [0, ''], name);
    }
  });

  it('no password is in a unit, and users are known by hashes', () => {
    const files = redis('7.0.15');
    for (const [name, text] of Object.entries(files)) {
      const shown = /(admin|app|replica)-0123/.exec(text)?.[1];
      const allowed = name === 'redis.env' ? 'app' : /^replica\d/.test(name) ? 'replica' : undefined;
      strictEqual(shown, allowed, name);
    }
    strictEqual(files['primary.conf']?.includes('disable-thp'), true);
    strictEqual(redis('6.0.16')['users.acl']?.includes('&'), false, '6.0 refuses patterns for channels');
    ok(redis('6.0.16')['envladder-redis@.service']?.includes('madvise'));
  });
});

const noRedis = spawnSync('redis-server', ['--version']).status === 0 ? false : 'SKIPPED(redis-server is not installed)';

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

it('this computer’s Redis takes the configuration, and the users have the rights they should', { skip: noRedis }, async () => {
  const version = /v=([\d.]+)/.exec(spawnSync('redis-server', ['--version'], { encoding: 'utf8' }).stdout)?.[1] ?? '';
  const home = join(folder, 'server');
  mkdirSync(home);
  const files = redis(version);
  const port = await freePort();
  writeFileSync(join(home, 'users.acl'), files['users.acl'] ?? '');
  const conf = (files['primary.conf'] ?? '')
    .replace(/^port .*/m, `port ${port}`)
    .replace(/^aclfile .*/m, `aclfile ${home}/users.acl`)
    .replace(/^dir .*/m, `dir ${home}`);
  writeFileSync(join(home, 'redis.conf'), conf);
  const server: ChildProcess = spawn('redis-server', [join(home, 'redis.conf')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => server.on('exit', resolve));
  try {
    let said = '';
    await new Promise<void>((resolve, reject) => {
      server.stdout?.on('data', (bytes) => {
        said += bytes;
        if (said.includes('Ready to accept connections')) resolve();
      });
      server.on('exit', () => reject(new Error(said)));
    });
    const ask = (user: string | null, ...words: string[]): string =>
      spawnSync('redis-cli', ['-p', String(port), ...(user === null ? [] : ['--user', user, '--no-auth-warning']), ...words], {
        encoding: 'utf8',
        timeout: 60_000,
        env: {
          ...process.env,
          ...(user === null ? {} : { REDISCLI_AUTH: { admin: 'admin-0123456789', app: 'app-0123456789-0' }[user] ?? 'replica-01234567' }),
        },
      }).stdout.trim();
    match(ask(null, 'PING'), /NOAUTH/);
    strictEqual(ask('admin', 'PING'), 'PONG');
    strictEqual(ask('app', 'SET', 'envladder:a', '1'), 'OK');
    for (const words of [['SET', 'b', '1'], ['FLUSHALL'], ['CONFIG', 'GET', '*'], ['ACL', 'LIST'], ['SHUTDOWN'], ['KEYS', '*']])
      match(ask('app', ...words), /NOPERM/, words.join(' '));
    match(ask('replica', 'GET', 'envladder:a'), /NOPERM/);
    strictEqual(ask('admin', 'CONFIG', 'GET', 'tcp-keepalive').split('\n').pop(), '60');
  } finally {
    server.kill('SIGKILL');
    await ended;
  }
});
