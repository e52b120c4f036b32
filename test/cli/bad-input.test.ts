// Everything a user can get wrong ends at once, with a message that names it and the exit code of its kind; nothing is started.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { LADDER_RUN } from '../fixtures/ladder-run.js';
import { eventsOf, ROOT, runCli } from './run-cli.js';

const BROKEN = join(ROOT, 'test', 'cli', 'fixtures', 'broken-envs.mjs');
const THROWS = join(ROOT, 'test', 'cli', 'fixtures', 'throws-at-import.mjs');
let root = '';
before(() => {
  root = mkdtempSync(join(tmpdir(), 'envladder-bad-'));
});
after(() => rmSync(root, { recursive: true, force: true }));

function planFile(name: string, yaml: string): string {
  const file = join(root, `${name}.yaml`);
  writeFileSync(file, yaml);
  return file;
}

interface Case {
  readonly name: string;
  readonly args: () => string[];
  readonly code: number;
  readonly says: RegExp;
  readonly shell?: string;
}

const CASES: readonly Case[] = [
  {
    name: 'unknown plan key',
    args: () => ['ladder', '--plan', planFile('key', 'tiers: [5]\nsecods: 3\n')],
    code: 2,
    says: /key\.yaml:2: secods: unknown field 'secods', did you mean 'seconds'\?/,
  },
  {
    name: 'negative tier',
    args: () => ['ladder', '--plan', planFile('negative', 'tiers: [-5]\n')],
    code: 2,
    says: /negative\.yaml:1: tiers\[0\]: a tier needs at least one env, found -5/,
  },
  {
    name: 'negative tier by flag',
    args: () => ['ladder', '--tiers=-5'],
    code: 2,
    says: /^--tiers: tiers\[0\]: a tier needs at least one env, found -5/m,
  },
  {
    name: 'unknown kind',
    args: () => ['ladder', '--kind', 'cartpol'],
    code: 2,
    says: /--kind: mix\.cartpol: unknown env kind 'cartpol', did you mean 'cartpole'\?/,
  },
  {
    name: 'mix not summing to 1',
    args: () => ['ladder', '--mix', 'cartpole=0.5,noop=0.4'],
    code: 2,
    says: /--mix: shares must sum to 1, found 0\.9/,
  },
  {
    name: 'tiers not rising',
    args: () => ['ladder', '--tiers', '3000,1000'],
    code: 2,
    says: /--tiers: tiers\[1\]: tiers must rise: 1000 does not come after 3000/,
  },
  { name: 'unknown option', args: () => ['ladder', '--tires', '5'], code: 2, says: /unknown option '--tires'\n\(Did you mean --tiers\?\)/ },
  { name: 'unknown command', args: () => ['climb'], code: 2, says: /unknown command 'climb'/ },
  {
    name: 'an empty --out',
    args: () => ['ladder', '--plan', 'smoke', '--out', ''],
    code: 2,
    says: /--out: '' names no folder/,
  },
  {
    name: 'unwritable --out, a kernel file system',
    args: () => ['ladder', '--plan', 'smoke', '--out', '/proc/nope'],
    code: 2,
    says: /run folder \/proc\/nope cannot be created: .*--out/,
  },
  {
    name: 'unwritable --out, below a file',
    args: () => ['ladder', '--plan', 'smoke', '--out', '/etc/passwd/run'],
    code: 2,
    says: /\/etc\/passwd: is a file, not a folder; .*--out/,
  },
  {
    name: 'ulimit -n 256',
    shell: 'ulimit -n 256',
    args: () => ['ladder'],
    code: 3,
    says: /nothing was started\nfile descriptors: needed 512, found 256 \(soft limit\)\n {2}run: ulimit -n 4096/,
  },
  {
    name: 'a file size limit below the shared memory',
    shell: 'ulimit -f 1024',
    args: () => ['ladder'],
    code: 3,
    says: /file size limit: needed \d+ MiB .*found 1\.0 MiB\n {2}run: ulimit -f unlimited/,
  },
  {
    name: 'module that throws at import',
    args: () => ['ladder', '--module', THROWS, '--kind', 'broken', '--tiers', '4'],
    code: 2,
    says: /throws-at-import\.mjs: threw while it was imported: Error: this module does not load/,
  },
  {
    name: 'a backend that is not there',
    args: () => ['ladder', '--backend', 'tfjs-node-gpu'],
    code: 2,
    says: /--backend tfjs-node-gpu: .*npm run setup:tfjs-node/,
  },
  { name: '--resume of nothing', args: () => ['ladder', '--resume', '/nowhere'], code: 2, says: /--resume \/nowhere: no such folder/ },
  { name: 'report of nothing', args: () => ['report', '/nowhere'], code: 2, says: /\/nowhere\/run\.json: cannot be read/ },
  {
    name: 'report of a file that is no record',
    args: () => ['report', planFile('no-record', 'tiers: [5]\n')],
    code: 2,
    says: /no-record\.yaml\/run\.json: cannot be read .*point at the folder of a run\n\(bad-record/,
  },
  {
    name: 'unknown field inside health',
    args: () => ['ladder', '--plan', planFile('health', 'tiers: [5]\nhealth: { graceSecond: 1 }\n')],
    code: 2,
    says: /health\.yaml:2: health\.graceSecond: unknown field 'graceSecond', did you mean 'graceSeconds'\?/,
  },
  {
    name: 'groups that nothing wakes',
    args: () => ['ladder', '--plan', planFile('groups', 'tiers: [5]\ngroups: { start: groups, size: 5 }\n')],
    code: 2,
    says: /groups\.yaml:2: groups: start: groups needs exactly one of wakeSteps and wakeSeconds/,
  },
  {
    name: 'heartbeats without a Redis',
    args: () => ['ladder', '--plan', planFile('beats', 'tiers: [5]\nhealth: { mode: account }\n')],
    code: 2,
    says: /beats\.yaml:2: health\.mode: account decides by heartbeats in Redis: give the plan a redis part/,
  },
  // The look-ahead of these three: whatever is printed, the password is not.
  {
    name: 'a password in a plan, which is printed and recorded',
    args: () => ['ladder', '--plan', planFile('secret', "tiers: [5]\nredis: { url: 'redis://u:hush-hush@h:1' }\n")],
    code: 2,
    says: /^(?!.*hush).*secret\.yaml:2: redis\.url: .*may hold no password: .*ENVLADDER_REDIS_URL/s,
  },
  {
    name: 'a password where no address belongs',
    args: () => ['plan', planFile('misplaced', "tiers: [5]\nredis: 'redis://:hush-hush@h'\n")],
    code: 2,
    says: /^(?!.*hush).*misplaced\.yaml:2: redis: must be a mapping of fields/s,
  },
  {
    name: 'an address in the environment that is none',
    shell: 'export ENVLADDER_REDIS_URL=ftp://:hush-hush@h',
    args: () => ['ladder', '--plan', 'smoke'],
    code: 2,
    says: /^(?!.*hush).*ENVLADDER_REDIS_URL: 'ftp:' is not redis:, rediss: or unix:; write /s,
  },
  { name: 'a chaos with nothing to do', args: () => ['chaos', '--only', 'none'], code: 2, says: /--only none: nothing is left to do/ },
  { name: 'a soak of no rows', args: () => ['chaos', '--only', 'none', '--soak', '1'], code: 2, says: /--only none: a soak repeats rows/ },
  { name: 'a rate without a storm', args: () => ['chaos', '--rate', '5'], code: 2, says: /--rate 5: is about a storm; give --storm/ },
  {
    name: 'a row that is not there',
    args: () => ['chaos', '--only', '1,99'],
    code: 2,
    says: /^envladder: --only 99: no such row; rows are 1, /,
  },
  {
    name: 'a chaos report that cannot be written, said before the rows',
    args: () => ['chaos', '--out', '/proc/nope'],
    code: 2,
    says: /^envladder: run folder \/proc\/nope cannot be created/,
  },
  {
    name: 'a soak of a plan that is none',
    args: () => ['soak', '--plan', planFile('soak', 'tiers: [5]\nhealth: { graceSeconds: -1 }\n'), '--out', join(root, 'runs')],
    code: 2,
    says: /soak\.yaml:2: health\.graceSeconds: must be at least 0, found -1/,
  },
  {
    name: 'soak --resume of nothing',
    args: () => ['soak', '--resume', '--out', 'runs'],
    code: 2,
    says: /--resume: .*runs holds no soak \(ENOENT\)/,
  },
  ...['abc', '-1'].map((seed) => ({
    name: `env check --seed ${seed}`,
    args: () => ['env', 'check', 'noop', `--seed=${seed}`],
    code: 2,
    says: new RegExp(`--seed ${seed}: give a whole number from 0 to \\d+\n\\(bad-usage`),
  })),
  ...['abc', '0'].map((seconds) => ({
    name: `env check --timeout ${seconds}`,
    args: () => ['env', 'check', 'noop', `--timeout=${seconds}`],
    code: 2,
    says: new RegExp(`--timeout ${seconds}: give seconds above 0, at most \\d+\n\\(bad-usage`),
  })),
];

describe('bad input', { timeout: 300_000 }, () => {
  for (const { name, args, code, says, shell } of CASES) {
    it(`${name}: exit ${code}, said clearly`, async () => {
      const result = await runCli(args(), { cwd: root, ...(shell === undefined ? {} : { shell }) });
      assert.match(result.stderr, says);
      assert.equal(result.code, code, result.stderr);
      assert.equal(result.stdout, '');
      assert.ok(!existsSync(join(root, 'runs')), 'no run folder was made');
    });
  }

  it('with --json an error is one document on stdout', async () => {
    const result = await runCli(['ladder', '--tiers', '5,4', '--json'], { cwd: root });
    assert.deepEqual(JSON.parse(result.stdout), {
      error: { code: 'bad-plan', message: '--tiers: tiers[1]: tiers must rise: 4 does not come after 5' },
    });
    assert.equal(result.stderr, '');
    assert.equal(result.code, 2);
  });

  it('a corrupted checkpoint: refused by name, before any env runs', async () => {
    const folder = join(root, 'damaged', 'checkpoints', '000000000001');
    const out = join(root, 'resumed');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'manifest.json'), '{"files": "rubbish"');
    const result = await runCli(['ladder', '--plan', 'smoke', '--out', out, '--resume', join(root, 'damaged')], { cwd: root });
    assert.match(result.stderr, /bad-checkpoint, exit code 2/);
    assert.match(result.stderr, /checkpoints\/000000000001.*manifest\.json/);
    assert.equal(result.code, 2);
    const events = existsSync(join(out, 'events.sqlite')) ? eventsOf(out) : [];
    assert.deepEqual(
      events.filter(({ type }) => type === 'env-created' || type === 'learner-started'),
      [],
    );
    assert.doesNotMatch(result.stderr, /envs live/);
  });

  it('report of the record instead of its folder: the folder is meant', async () => {
    const result = await runCli(['report', join(LADDER_RUN, 'run.json'), '--json', '--out', join(root, 'rendered')], { cwd: root });
    assert.equal(result.code, 0, result.stderr);
    assert.equal(typeof (JSON.parse(result.stdout) as { run: unknown }).run, 'object');
    assert.ok(existsSync(join(root, 'rendered', 'report.html')));
  });
});

describe('envs that break the contract', { timeout: 300_000 }, () => {
  /** env id -> [what it does, what is said about it]. Env 11 and on behave. */
  const FAULTS: readonly (readonly [string, RegExp])[] = [
    ['three-floats', /env 0 \(broken\), step: vector is Float32Array\[3\], must be a Float32Array\[4\]/],
    ['float64', /env 1 \(broken\), step: vector is Float64Array\[4\], must be a Float32Array\[4\]/],
    ['reward-list', /env 2 \(broken\), step: reward is array\[1\], must be a finite number/],
    ['bigint', /env 3 \(broken\), step: reward is bigint 3n, must be a finite number/],
    ['undefined', /env 4 \(broken\), step: result is undefined, must be \{reward, terminated, truncated\}/],
    ['nan', /env 5 \(broken\), step: reward is NaN, must be a finite number/],
    ['nan-observation', /env 6 \(broken\), step: vector\[2\] is NaN, must be a finite number/],
    ['throws-in-step', /env 7 \(broken\): step threw Error: the step is broken/],
    ['throws-in-constructor', /env 8 \(broken\): construct threw Error: the constructor is broken/],
    ['throws-in-reset', /env 9 \(broken\): reset threw Error: the reset is broken/],
    ['throws-in-close', /env 10 \(broken\): close threw Error: the close is broken/],
  ];

  it('each is named with operation and value, quarantined alone, and the others go on to the end', async () => {
    const faults = FAULTS.map(([fault], envId) => `${envId}: ${fault}`).join(', ');
    const plan = planFile(
      'faulty',
      `tiers: [16]\nseconds: 1\nmodule: ${BROKEN}\nlearner: random\ncheck: full\nhealth: { envBudget: { restarts: 0 }, coolDowns: 0 }\nmix:\n  broken: { share: 1, config: { faults: { ${faults} } } }\n`,
    );
    const dir = join(root, 'faulty');
    const result = await runCli(['ladder', '--plan', plan, '--out', dir, '--json'], { cwd: root });
    const record = JSON.parse(result.stdout) as {
      verdict: string;
      exit_code: number;
      tiers: { envs_live: number; sampling_sps: number; complete: boolean }[];
      validity: { reasons: { code: string; message: string }[] };
    };
    const events = eventsOf(dir);
    FAULTS.forEach(([, says], envId) => {
      const told = events.filter((event) => event.env_id === envId && (event.type === 'env-failed' || event.type === 'reset-failed'));
      assert.equal(told.length, 1, `env ${envId}: ${told.map((event) => event.message).join('; ')}`);
      assert.match(told[0]?.message ?? '', says);
    });
    assert.ok(!events.some((event) => event.env_id !== null && event.env_id >= FAULTS.length), 'nobody else failed');
    assert.equal(record.tiers[0]?.envs_live, 6);
    assert.equal(record.tiers[0]?.complete, true);
    assert.ok((record.tiers[0]?.sampling_sps ?? 0) > 0);
    assert.equal(record.verdict, 'invalid');
    assert.deepEqual(
      record.validity.reasons.map((reason) => reason.code),
      ['quarantined'],
    );
    assert.match(record.validity.reasons[0]?.message ?? '', /^10 of 16 envs were quarantined; the first: env \d+ \(broken\)/);
    assert.equal(result.code, 4);
  });

  for (const fault of ['nan', 'throws-in-create']) {
    it(`when every env breaks (${fault}) the run ends early, invalid, exit 4`, async () => {
      const plan = planFile(
        `all-${fault}`,
        `tiers: [4]\nseconds: 3600\nmodule: ${BROKEN}\nlearner: random\nhealth: { envBudget: { restarts: 0 }, coolDowns: 0 }\nmix:\n  broken: { share: 1, config: { fault: ${fault} } }\n`,
      );
      const result = await runCli(['ladder', '--plan', plan, '--out', join(root, `all-${fault}`)], { cwd: root });
      assert.equal(result.code, 4, result.stderr);
      assert.match(result.stdout, /not one env is live any more/);
      assert.match(result.stdout, /4 of 4 envs were quarantined; the first: env \d/);
      assert.ok(existsSync(join(root, `all-${fault}`, 'report.html')));
    });
  }
});
