import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EnvladderError } from '../../harness/contract/errors.js';
import { formatKindList, listKinds } from '../../harness/envs/format-check.js';
import { createRegistry, findKind, resolveKind } from '../../harness/envs/registry.js';
import { brokenKind, openRange } from './broken-kinds.js';

const here = fileURLToPath(new URL('./fixtures', import.meta.url));
const registry = await createRegistry();

/** The error of `run`, which must be an EnvladderError of `code` whose message has every part of `says`. */
async function refuses(run: () => unknown, code: string, says: readonly RegExp[]): Promise<EnvladderError> {
  try {
    await run();
  } catch (error) {
    assert.ok(error instanceof EnvladderError, String(error));
    assert.equal(error.code, code);
    for (const part of says) assert.match(error.message, part);
    return error;
  }
  return assert.fail('nothing was thrown');
}

describe('the registry', () => {
  it('knows the built-in kinds', () => {
    // Goal: `env list` shows all nine, each with a summary and valid spaces.
    const names = listKinds(registry).map((kind) => kind.name);
    assert.deepEqual(names, [
      'cartpole',
      'mountain-car',
      'mountain-car-continuous',
      'acrobot',
      'pendulum',
      'field',
      'noop',
      'probe',
      'fault',
    ]);
    for (const name of names) {
      if (name !== 'fault') resolveKind(registry, name);
      assert.match(formatKindList(listKinds(registry)), new RegExp(`^${name} +1\\.\\d\\.0 {2}\\w`, 'm'));
    }
  });

  it('names the nearest kind and all known ones for an unknown name', async () => {
    // Goal: a typing error is answered with what was meant.
    await refuses(() => findKind(registry, 'cart-pole'), 'bad-kind', [
      /unknown env kind 'cart-pole'/,
      /did you mean 'cartpole'\?/,
      /Known: .*pendulum/,
      /--module/,
    ]);
    const far = await refuses(() => findKind(registry, 'zzzzzz'), 'bad-kind', [/Known:/]);
    assert.doesNotMatch(far.message, /did you mean/);
  });

  it('refuses config keys that a kind does not have', async () => {
    // Goal: a misspelt option is an error, not a silent default.
    await refuses(() => resolveKind(registry, 'cartpole', { gravity: 1 }), 'bad-kind', [/'cartpole': takes no config, found gravity/]);
    await refuses(() => resolveKind(registry, 'noop', { float: 3 }), 'bad-kind', [/'noop': config/, /float/]);
    await refuses(() => resolveKind(registry, 'noop', { floats: 0 }), 'bad-kind', [/config\.floats/]);
    await refuses(() => resolveKind(registry, 'fault', { kind: 'noop', schedule: [] }), 'bad-kind', [/config\.schedule/]);
    await refuses(() => resolveKind(registry, 'fault', { kind: 'noop', schedule: [{ fault: 'dtype', on: 'close' }] }), 'bad-kind', [
      /dtype cannot happen on close/,
    ]);
    await refuses(() => resolveKind(registry, 'fault', { kind: 'nooop', schedule: [{ fault: 'throw' }] }), 'bad-kind', [
      /did you mean 'noop'/,
    ]);
  });

  it('names the member of a kind that throws before any env is built', async () => {
    // Goal: a user sees which of their functions failed, as an error in their kind and not in envladder.
    const boom = (): never => {
      throw new TypeError('boom');
    };
    for (const member of ['parseConfig', 'spaces', 'timeLimit', 'create'] as const) {
      const kind = { ...brokenKind({}).kind, [member]: boom };
      const own = new Map([['broken', { kind, origin: 'test' }]]);
      const error = await refuses(() => openRange(resolveKind(own, 'broken'), 1), 'bad-kind', [
        new RegExp(`'broken': ${member} threw TypeError: boom`),
      ]);
      assert.ok(error.cause instanceof TypeError);
    }
    const kind = { ...brokenKind({}).kind, timeLimit: () => 0.5 };
    await refuses(() => resolveKind(new Map([['broken', { kind, origin: 'test' }]]), 'broken'), 'bad-kind', [/timeLimit returned 0\.5/]);
  });

  it('loads a TypeScript and a JavaScript module, every kind they export', async () => {
    // Goal: a user brings kinds by --module in either language, and can wrap them in `fault`.
    const own = await createRegistry(['good-env.ts', 'plain-env.mjs'], here);
    assert.deepEqual([...own.keys()].slice(-3).sort(), ['good', 'good-too', 'plain']);
    assert.equal(findKind(own, 'good').origin, 'good-env.ts');
    resolveKind(own, 'fault', { kind: 'plain', schedule: [{ fault: 'throw' }] });
  });

  for (const [file, says] of [
    ['throws-at-import.ts', [/throws-at-import\.ts: threw while it was imported: RangeError: no display found/]],
    ['no-kind.ts', [/exports no env kind \(found: answer\)/, /export const kind/]],
    ['lacks-create.ts', [/export 'kind' lacks create \(a function\)/]],
    ['missing.ts', [/no such file/]],
    ['good-env.py', [/'\.py' is not a module/]],
    ['taken-name.mjs', [/env kind 'cartpole' is already there \(built-in\)/]],
  ] as const) {
    it(`refuses the module ${file}`, async () => {
      // Goal: what is wrong with a module is said before anything starts.
      const error = await refuses(() => createRegistry([file], here), 'bad-module', says);
      if (file === 'throws-at-import.ts') assert.ok((error.cause as Error).message.includes('no display found'));
    });
  }
});
