// Goal: objectives in a plan file are checked like every other field, with line, field and the nearest metric; a tier's own take the
// place of the plan's on the same side of the same metric.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import { MAX_SLOS } from '../../harness/contract/limits.js';
import type { Plan } from '../../harness/contract/plan.js';
import { readPlan } from '../../harness/ladder/read-plan.js';

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'envladder-slos-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function read(yaml: string): Promise<Plan> {
  writeFileSync(join(folder, 'p.yaml'), yaml);
  return (await readPlan({ plan: './p.yaml', flags: {}, cores: 2, cwd: folder })).plan;
}

async function problemsOf(yaml: string): Promise<string[]> {
  const error = await read(yaml).then(
    () => assert.fail('the plan was accepted'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof EnvladderError, String(error));
  assert.equal(error.code, 'bad-plan');
  return error.message.split('\n');
}

describe('objectives in a plan', () => {
  it('are read in both forms, with blanks and the time of grace brought into one', async () => {
    const { slos, tiers } = await read(
      'tiers: [5]\nslos:\n  - step_latency_us.p99<30_000\n  - {slo: goodput_sps > 5, abort: true, after: 2m}\n  - kinds.cartpole.return_mean >= -1.5\n',
    );
    assert.deepEqual(slos, [
      { slo: 'step_latency_us.p99 < 30_000', metric: 'step_latency_us.p99', op: '<', limit: 30_000, abort: false, afterSeconds: 10 },
      { slo: 'goodput_sps > 5', metric: 'goodput_sps', op: '>', limit: 5, abort: true, afterSeconds: 120 },
      {
        slo: 'kinds.cartpole.return_mean >= -1.5',
        metric: 'kinds.cartpole.return_mean',
        op: '>=',
        limit: -1.5,
        abort: false,
        afterSeconds: 10,
      },
    ]);
    assert.deepEqual(tiers[0]?.slos, slos);
  });

  it('of a tier take the place of the plan on the same side of a metric, and join it elsewhere', async () => {
    const { tiers } = await read(
      'tiers:\n  - 5\n  - { envs: 9, slos: [step_latency_us.p99 <= 9, step_latency_us.p99 > 1, updates > 2] }\nslos: [step_latency_us.p99 < 5, goodput_sps > 1]\n',
    );
    assert.deepEqual(
      tiers.map((tier) => tier.slos.map(({ slo }) => slo)),
      [
        ['step_latency_us.p99 < 5', 'goodput_sps > 1'],
        ['step_latency_us.p99 <= 9', 'goodput_sps > 1', 'step_latency_us.p99 > 1', 'updates > 2'],
      ],
    );
  });

  it('are refused on their own line, all at once, with the nearest metric', async () => {
    const problems = await problemsOf(
      [
        'tiers:',
        '  - { envs: 5, slos: [goodput_sp > 3] }',
        'slos:',
        '  - step_latency_us.p99 = 3',
        '  - slo: kinds.cartpol.return_mean > 1',
        '    after: soon',
        '  - goodput_sps > fast',
        '  - goodput_sps > 1',
        '  - goodput_sps >= 2',
        '',
      ].join('\n'),
    );
    assert.deepEqual(problems, [
      "./p.yaml:2: tiers[0].slos[0]: no metric is called 'goodput_sp', did you mean 'goodput_sps'?",
      "./p.yaml:4: slos[0]: '=' does not compare; use one of < <= > >=",
      "./p.yaml:5: slos[1].slo: no metric is called 'kinds.cartpol.return_mean', did you mean 'kinds.cartpole.return_mean'?",
      "./p.yaml:6: slos[1].after: must be seconds or a time such as 30s, 2m or 1h, found 'soon'",
      "./p.yaml:7: slos[2]: the limit must be a number, found 'fast'; write METRIC OP LIMIT, as in 'step_latency_us.p99 < 30000'",
      "./p.yaml:9: slos[4]: 'goodput_sps >= 2' and 'goodput_sps > 1' bound the same side of goodput_sps; keep one",
    ]);
  });

  it('lists the known metrics when none is near', async () => {
    const [problem = ''] = await problemsOf('tiers: [5]\nslos: [zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz > 3]\n');
    assert.match(problem, /^\.\/p\.yaml:2: slos\[0\]: no metric is called 'z+'; known: step_latency_us\.p50, .*kinds\.cartpole\.episodes$/);
  });

  it('must have the form of objectives', async () => {
    assert.deepEqual(await problemsOf('tiers: [5]\nslos:\n  - { slo: updates > 1, abrt: true }\n'), [
      "./p.yaml:3: slos[0].abrt: unknown field 'abrt', did you mean 'abort'?",
    ]);
    assert.match(
      (await problemsOf('tiers: [5]\nslos: updates > 1\n'))[0] ?? '',
      /p\.yaml:2: slos: must be a list, found the text 'updates > 1'/,
    );
    assert.match((await problemsOf('tiers: [5]\nslos:\n  - 7\n'))[0] ?? '', /p\.yaml:3: slos\[0\]: must be a text, found 7/);
    const many = Array.from({ length: MAX_SLOS + 1 }, (_, i) => `step_latency_us.p${10 + i} < 1`).join(', ');
    assert.match((await problemsOf(`tiers: [5]\nslos: [${many}]\n`))[0] ?? '', /slos: at most 64 objectives/);
  });

  it('and what a run must find are refused when they mean nothing', async () => {
    assert.deepEqual(await problemsOf('tiers: [5]\nexpect: { nod: "20" }\nquiet:\n  maxStealShare: 2\n'), [
      "./p.yaml:2: expect.nod: unknown field 'nod', did you mean 'node'?",
      './p.yaml:4: quiet.maxStealShare: a share of CPU time is 0 to 1, found 2',
    ]);
    assert.match(
      (await problemsOf('tiers: [5]\nexpect: { node: latest }\n'))[0] ?? '',
      /expect\.node: a Node version is 20, 20\.19 or 20\.19\.1/,
    );
    assert.match((await problemsOf('tiers: [5]\nminStepsPerEnv: -1\n'))[0] ?? '', /minStepsPerEnv: .*found -1/);
  });
});
