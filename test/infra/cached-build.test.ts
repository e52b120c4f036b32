// Goal: what takes minutes to make is made once, whole or not at all, and what a killed build left is cleared away, the work of a live one not.
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import { buildOnce, SetupError } from '../../scripts/cached-build.mjs';

const HOURS_MS = 3_600_000;
let cache: string;
let before: string | undefined;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'cached-build-'));
  before = process.env['XDG_CACHE_HOME'];
  process.env['XDG_CACHE_HOME'] = cache;
});
afterEach(() => {
  if (before === undefined) delete process.env['XDG_CACHE_HOME'];
  else process.env['XDG_CACHE_HOME'] = before;
  rmSync(cache, { recursive: true, force: true });
});
const root = () => join(cache, 'envladder');
const fill = (text: string) => async (work: string) => writeFileSync(join(work, 'made'), text);

it('builds once and is found again', async () => {
  const folder = await buildOnce('thing-1', 1, fill('first'));
  strictEqual(folder, join(root(), 'thing-1'));
  strictEqual(await buildOnce('thing-1', 1, fill('second')), folder);
  strictEqual(readFileSync(join(folder, 'made'), 'utf8'), 'first');
});

it('a build that fails leaves nothing, and one that does not fit is not begun', async () => {
  const broken = async (work: string) => {
    await fill('half')(work);
    throw new Error('no compiler');
  };
  await rejects(buildOnce('thing-1', 1, broken), /no compiler/);
  deepStrictEqual(readdirSync(root()), []);
  await rejects(buildOnce('thing-1', 2 ** 60, broken), (error: unknown) => error instanceof SetupError && error.exitCode === 75);
});

it('clears what a killed build left long ago, and nothing that may be at work', async () => {
  const dead = spawnSync('true').pid;
  const names = { old: `building-${dead}-old`, fresh: `building-${dead}-fresh`, live: `building-${process.pid}-live`, thing: 'thing-0' };
  for (const name of Object.values(names)) mkdirSync(join(root(), name), { recursive: true });
  const longAgo = new Date(Date.now() - 4 * HOURS_MS);
  for (const name of [names.old, names.live, names.thing]) utimesSync(join(root(), name), longAgo, longAgo);
  await buildOnce('thing-1', 1, fill('made'));
  deepStrictEqual(
    Object.values(names).filter((name) => !existsSync(join(root(), name))),
    [names.old],
  );
});
