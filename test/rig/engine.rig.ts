// Goal: what the rig's program relies on holds for this engine with these plugins, official or stand-in: an update for a changed text, a delete
// and a create for a changed trigger, nothing kept of a failed create, no secret in the state.
import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { until } from '../fixtures/until.js';
import { mustRun, skipEngine } from './rig.js';
import { makeStack, resourceCounts, type Stack } from './stack.js';

const PROJECT = join(import.meta.dirname, 'engine-project');
const SECRET = 'Secret-of-the-engine.51d0a7';

describe('the engine', { skip: skipEngine }, () => {
  let stack: Stack;
  const log = (): string => join(stack.folder, 'log');
  const logged = (): string[] => readFileSync(log(), 'utf8').trim().split('\n');
  before(async () => {
    stack = await makeStack(PROJECT);
    await stack.setConfig({ log: log(), word: 'one', host: 'a' }, { secret: SECRET });
    await mustRun(stack, ['up', '--skip-preview']);
  });

  it('finds nothing to do in a second up, and says so by its exit code otherwise', async () => {
    await mustRun(stack, ['up', '--skip-preview', '--expect-no-changes']);
    deepStrictEqual(logged(), ['create one']);
    await stack.setConfig({ word: 'two' });
    notStrictEqual((await stack.run(['preview', '--expect-no-changes'])).code, 0);
  });

  it('updates the one command whose text changed', async () => {
    strictEqual(resourceCounts(await mustRun(stack, ['up', '--skip-preview']))['updated'], 1);
    strictEqual(logged().at(-1), 'update two');
  });

  it('replaces a command whose trigger changed', async () => {
    await stack.setConfig({ host: 'b' });
    strictEqual(resourceCounts(await mustRun(stack, ['up', '--skip-preview']))['replaced'], 1);
    deepStrictEqual(logged().slice(-2).sort(), ['create two', 'delete two']);
  });

  it('shows the words of a command that failed and keeps nothing of it', async () => {
    await stack.setConfig({ fail: 'true' });
    const up = await stack.run(['up', '--skip-preview']);
    notStrictEqual(up.code, 0);
    match(up.stdout, /the reason/);
    ok(!(await mustRun(stack, ['stack', 'export'])).includes('::third"'));
    await stack.setConfig({ fail: 'false' });
  });

  it('hides a secret input, and the output that came of it', async () => {
    ok(!(await mustRun(stack, ['stack', 'export'])).includes(SECRET));
    ok(!(await mustRun(stack, ['stack', 'output', '--json'])).includes(SECRET));
    strictEqual(JSON.parse(await mustRun(stack, ['stack', 'output', '--json', '--show-secrets'])).echoed, SECRET);
  });

  it('keeps a lock when the CLI is killed, gives it up on cancel, and goes on in the next up', async () => {
    const held = join(stack.folder, 'held');
    writeFileSync(held, '');
    await stack.setConfig({ held });
    let cli = 0;
    const onStart = (pid: number): void => {
      cli = pid;
    };
    const up = stack.run(['up', '--skip-preview'], { onStart });
    await until(() => logged().includes('started'));
    process.kill(cli, 'SIGKILL');
    strictEqual((await up).signal, 'SIGKILL');
    const locked = await stack.run(['up', '--skip-preview']);
    match(locked.stdout + locked.stderr, /locked by 1 lock/);
    await mustRun(stack, ['cancel', '--yes']);
    rmSync(held);
    strictEqual(resourceCounts(await mustRun(stack, ['up', '--skip-preview']))['created'], 1);
  });

  it('runs the deletes of a destroy', async () => {
    await mustRun(stack, ['destroy', '--skip-preview']);
    strictEqual(logged().at(-1), 'delete two');
  });
});
