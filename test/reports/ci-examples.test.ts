import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { buildProgram } from '../../harness/cli/program.js';
import { REPORT_FORMATS } from '../../reports/report-format.js';

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url));
const SCRIPT = join(DOCS, 'ci', 'ladder.sh');

interface Workflow {
  readonly permissions: Record<string, string>;
  readonly jobs: Record<string, { readonly steps: readonly { readonly run?: string; readonly uses?: string }[] }>;
}

test('every envladder command in the CI page, the workflow and the script exists, with its flags', () => {
  // Goal: an example that a person copies works as it stands.
  const program = buildProgram(() => undefined);
  const workflow = parse(readFileSync(join(DOCS, 'ci', 'ladder-workflow.yml'), 'utf8')) as Workflow;
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
  const lines = [
    ...steps.flatMap((step) => step.run ?? []),
    readFileSync(SCRIPT, 'utf8'),
    ...[...readFileSync(join(DOCS, 'ci.md'), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)].map((block) => block[1] ?? ''),
  ].flatMap((text) => text.split('\n'));
  let seen = 0;
  for (const line of lines) {
    const [, name, rest = ''] =
      /(?:main\.js|"\$\{envladder\[@\]\}"|^npm run -s envladder --) ([a-z]+)(.*)$/.exec(line.replace(/\s+#.*$/, '')) ?? [];
    if (name === undefined) continue;
    seen += 1;
    const command = program.commands.find((candidate) => candidate.name() === name);
    assert.ok(command !== undefined, `no command ${name}: ${line}`);
    const known = command.options.map((option) => option.long);
    for (const [flag] of rest.matchAll(/--[a-z][a-z-]*/g)) assert.ok(known.includes(flag), `${name} has no ${flag}: ${line}`);
  }
  assert.ok(seen >= 8, `${seen} commands found`);
  assert.deepEqual(workflow.permissions, { contents: 'read' });
  for (const { run } of steps) {
    if (run === undefined) continue;
    const check = spawnSync('bash', ['-n', '-c', run], { encoding: 'utf8' });
    assert.equal(check.status, 0, check.stderr);
    assert.ok(!run.includes('${{'), 'what an event says reaches a shell through the environment only');
  }
  const page = readFileSync(join(DOCS, 'ci.md'), 'utf8');
  for (const format of REPORT_FORMATS) assert.ok(page.includes(`| \`${format}\` |`), `${format} is explained`);
});

test('the script passes exit codes on: the climb’s before the comparison’s, a report whenever there is a record', () => {
  // Goal: INVALID, a missed objective and a regression each keep their own code through the wrapper.
  const dir = mkdtempSync(join(tmpdir(), 'envladder-ci-'));
  const stub = join(dir, 'stub.sh');
  writeFileSync(stub, '#!/bin/sh\necho "$*" >> "$LOG"\ncase $1 in ladder) exit "$LADDER";; compare) exit "$COMPARE";; esac\n');
  chmodSync(stub, 0o755);
  for (const [ladder, compare, base, exit, called] of [
    [0, 0, '', 0, 'ladder report'],
    [0, 6, 'main', 6, 'ladder report compare'],
    [4, 0, 'main', 4, 'ladder report compare'],
    [5, 6, 'main', 5, 'ladder report compare'],
    [5, 0, '', 5, 'ladder report'],
    [2, 0, 'main', 2, 'ladder'],
    [3, 0, 'main', 3, 'ladder'],
    [130, 0, 'main', 130, 'ladder'],
  ] as const) {
    const log = join(dir, `log-${ladder}-${compare}-${base}`);
    const run = spawnSync('bash', [SCRIPT, ...(base === '' ? [] : [base])], {
      encoding: 'utf8',
      env: { ...process.env, ENVLADDER: stub, LOG: log, LADDER: String(ladder), COMPARE: String(compare), OUT: join(dir, 'run') },
    });
    assert.equal(run.status, exit, `${ladder} ${compare}: ${run.stderr}`);
    const commands = readFileSync(log, 'utf8').trimEnd().split('\n');
    assert.equal(commands.map((line) => line.split(' ')[0]).join(' '), called);
  }
});
