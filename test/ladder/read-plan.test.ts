// Every way a plan can be wrong is told with file, line, field and remedy, all at once, before anything starts.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import type { PlanFlags } from '../../harness/ladder/plan-flags.js';
import { builtInPlans } from '../../harness/ladder/plan-source.js';
import { type ReadPlan, readPlan } from '../../harness/ladder/read-plan.js';

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'envladder-plan-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function read(yaml: string, flags: PlanFlags = {}): Promise<ReadPlan> {
  writeFileSync(join(folder, 'p.yaml'), yaml);
  return readPlan({ plan: './p.yaml', flags, cores: 4, cwd: folder });
}

async function problemsOf(yaml: string, flags: PlanFlags = {}, code = 'bad-plan'): Promise<string[]> {
  const error = await read(yaml, flags).then(
    () => assert.fail('the plan was accepted'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof EnvladderError, String(error));
  assert.equal(error.code, code);
  return error.message.split('\n');
}

describe('plan reading', () => {
  it('points at the line of an unknown key and names the nearest one', async () => {
    assert.deepEqual(await problemsOf('name: x\ntiers: [5]\nsecods: 3\n'), [
      "./p.yaml:3: secods: unknown field 'secods', did you mean 'seconds'?",
    ]);
    assert.deepEqual(await problemsOf('tiers: [5]\nppo:\n  epochs: 2\n  horizn: 3\n'), [
      "./p.yaml:4: ppo.horizn: unknown field 'horizn', did you mean 'horizon'?",
    ]);
    assert.deepEqual(await problemsOf('tiers:\n  - envs: 5\n    secs: 2\n'), [
      "./p.yaml:3: tiers[0].secs: unknown field 'secs', did you mean 'seconds'?",
    ]);
  });

  it('refuses a negative tier, tiers that do not rise, and shares that do not sum to 1', async () => {
    assert.deepEqual(await problemsOf('tiers: [5, -4]\n'), ['./p.yaml:1: tiers[1]: a tier needs at least one env, found -4']);
    assert.deepEqual(await problemsOf('name: a\ntiers:\n  - 5\n  - 5\n'), [
      './p.yaml:4: tiers[1]: tiers must rise: 5 does not come after 5',
    ]);
    assert.deepEqual(await problemsOf('tiers: [5]\nmix:\n  cartpole: 0.5\n  noop: 0.4\n'), [
      './p.yaml:2: mix: shares must sum to 1, found 0.9',
    ]);
  });

  it('names an unknown kind on its line, with the nearest and the known ones', async () => {
    const [problem = '', ...more] = await problemsOf('tiers: [5]\nmix:\n  noop: 0.5\n  cartpol: 0.5\n');
    assert.deepEqual(more, []);
    assert.match(
      problem,
      /^\.\/p\.yaml:4: mix\.cartpol: unknown env kind 'cartpol', did you mean 'cartpole'\? Known: cartpole, .*--module/,
    );
  });

  it('lists every problem at once, also those that wait behind a wrong type', async () => {
    const problems = await problemsOf('tiers: [5, 4]\nseconds: abc\nlearner: pp\nmix: { cartpole: 0.5 }\nppo: { epochs: 0 }\nbogus: 1\n');
    assert.deepEqual(problems, [
      './p.yaml:1: tiers[1]: tiers must rise: 4 does not come after 5',
      "./p.yaml:2: seconds: must be a number, found the text 'abc'",
      "./p.yaml:3: learner: must be one of ppo, random, none; found the text 'pp', did you mean 'ppo'?",
      './p.yaml:4: mix: shares must sum to 1, found 0.5',
      './p.yaml:5: ppo.epochs: must be at least 1, found 0',
      `./p.yaml:6: bogus: unknown field 'bogus'; known fields: ${problems[5]?.split('known fields: ')[1]}`,
    ]);
  });

  it('says what is no YAML, no mapping, or missing', async () => {
    assert.match((await problemsOf('tiers: [5\nseconds: 3\n'))[0] ?? '', /^\.\/p\.yaml:\d: not valid YAML: /);
    assert.match((await problemsOf(''))[0] ?? '', /^\.\/p\.yaml:1: a plan is a mapping of fields .* found nothing/);
    assert.deepEqual(await problemsOf('seconds: 3\n'), ['./p.yaml:1: tiers: is missing; it must be a list']);
    assert.match((await problemsOf('tiers: [5]\ntiers: [6]\n'))[0] ?? '', /^\.\/p\.yaml:2: not valid YAML: .*unique/);
  });

  it('judges flags like lines, under their own name', async () => {
    assert.deepEqual(await problemsOf('tiers: [5]\n', { tiers: '10,-4', seconds: 'x', learner: 'ppoo' }), [
      '--tiers: tiers[1]: a tier needs at least one env, found -4',
      "--seconds: must be a number, found the text 'x'",
      "--learner: must be one of ppo, random, none; found the text 'ppoo', did you mean 'ppo'?",
    ]);
    assert.deepEqual(await problemsOf('tiers: [5]\n', { mix: 'cartpole=0.5,noop=0.4' }), ['--mix: shares must sum to 1, found 0.9']);
    assert.match((await problemsOf('tiers: [5]\n', { mix: 'cartpole' }, 'bad-usage'))[0] ?? '', /^--mix: 'cartpole' is not KIND=SHARE/);
    assert.match((await problemsOf('tiers: [5]\n', { mix: 'noop=1', kind: 'noop' }, 'bad-usage'))[0] ?? '', /exclude each other/);
    assert.match(
      (await problemsOf('tiers: [5]\n', { kind: 'nop' }))[0] ?? '',
      /^--kind: mix\.nop: unknown env kind 'nop', did you mean 'noop'\?/,
    );
  });

  it('lets flags override the file, and keeps what they leave alone', async () => {
    const { plan } = await read('seed: 7\ntiers:\n  - { envs: 5, seconds: 9 }\n  - { envs: 6 }\nmix:\n  noop: 1\n', {
      seconds: '2',
      workers: '3',
      kind: 'cartpole',
    });
    assert.deepEqual(
      plan.tiers.map(({ envs, seconds }) => [envs, seconds]),
      [
        [5, 2],
        [6, 2],
      ],
    );
    assert.equal(plan.workers, 3);
    assert.equal(plan.seed, 7);
    assert.deepEqual(
      plan.mix.map(({ name, share }) => [name, share]),
      [['cartpole', 1]],
    );
  });

  it('decides the number of workers from the cores', async () => {
    assert.equal((await read('tiers: [5]\n')).plan.workers, 3);
  });

  it('finds a module beside the plan file, and one given by a flag from the working folder', async () => {
    const kind = (
      name: string,
    ): string => `export const kind = { name: '${name}', version: '1.0.0', summary: 's', sources: [import.meta.url],
      spaces: () => ({ observation: { vector: { dtype: 'f32', shape: [1], low: 0, high: 1 } }, action: { type: 'discrete', n: 2 } }),
      create: () => ({ reset() {}, step: () => ({ reward: 0, terminated: false, truncated: false }) }) };`;
    writeFileSync(join(folder, 'mine.mjs'), kind('mine'));
    assert.equal((await read('tiers: [5]\nmodule: ./mine.mjs\nmix: { mine: 1 }\n')).module, join(folder, 'mine.mjs'));
    assert.equal((await read('tiers: [5]\n', { module: 'mine.mjs', kind: 'mine' })).module, join(folder, 'mine.mjs'));
  });

  it('accepts every built-in plan', async () => {
    const names = builtInPlans();
    for (const name of ['default', 'smoke', 'account']) assert.ok(names.includes(name), name);
    for (const name of names) await readPlan({ plan: name, flags: {}, cores: 2, cwd: folder });
    const { plan } = await readPlan({ plan: 'account', flags: {}, cores: 2, cwd: folder });
    assert.deepEqual(
      plan.tiers.map(({ envs }) => envs),
      [1000, 3000, 5000, 7000],
    );
    assert.equal(
      plan.tiers.reduce((sum, tier) => sum + tier.seconds, 0),
      6 * 86_400,
    );
  });

  it('offers the nearest built-in plan for a mistyped name', async () => {
    await assert.rejects(readPlan({ plan: 'smok', flags: {}, cores: 2, cwd: folder }), /no plan is called 'smok', did you mean 'smoke'\?/);
    await assert.rejects(
      readPlan({ plan: './nowhere.yaml', flags: {}, cores: 2, cwd: folder }),
      /plan file \.\/nowhere\.yaml: no such file/,
    );
  });
});
