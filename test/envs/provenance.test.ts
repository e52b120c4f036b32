import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { canonicalJson, describeProvenance } from '../../harness/envs/provenance.js';
import { createRegistry, resolveKind } from '../../harness/envs/registry.js';

const registry = await createRegistry();

describe('provenance', () => {
  it('follows local imports and gives relative names', () => {
    // Goal: a change of a helper beside the kind changes the kind's hash; no path of this machine is recorded.
    const found = describeProvenance(resolveKind(registry, 'field'));
    assert.deepEqual(
      found.files.map((file) => file.path),
      ['field-state.ts', 'field-view.ts', 'field.ts'],
    );
    assert.match(found.contentHash, /^[0-9a-f]{64}$/);
    assert.ok(!JSON.stringify(found).includes(process.cwd()));
  });

  it('changes with the content of a file, of an import of it, and with the config, and with nothing else', () => {
    // Goal: equal hash means equal code and equal config.
    const folder = mkdtempSync(join(tmpdir(), 'envladder-provenance-'));
    const main = join(folder, 'main.mjs');
    const helper = join(folder, 'helper.mjs');
    writeFileSync(main, "import { x } from './helper.mjs';\nexport const y = x;\n");
    writeFileSync(helper, 'export const x = 1;\n');
    const noop = resolveKind(registry, 'noop');
    const read = (config: unknown = {}) =>
      describeProvenance({ ...noop, config, kind: { ...noop.kind, sources: [`${pathToFileURL(main).href}?again=1`] } });
    const before = read();
    assert.deepEqual(read(), before);
    assert.deepEqual([before.files.length, before.gitCommit, before.gitDirty], [2, null, null]);
    assert.notEqual(read({ floats: 3 }).configHash, before.configHash);
    assert.equal(read({ floats: 3 }).contentHash, before.contentHash);
    writeFileSync(helper, 'export const x = 2;\n');
    const after = read();
    assert.notEqual(after.contentHash, before.contentHash);
    copyFileSync(helper, main);
    assert.notEqual(read().contentHash, after.contentHash);
    rmSync(folder, { recursive: true });
  });

  it('writes equal configs as equal text', () => {
    // Goal: the order of keys in a plan does not change a hash.
    assert.equal(canonicalJson({ b: [1, { d: 1, c: 2 }], a: 1 }), canonicalJson({ a: 1, b: [1, { c: 2, d: 1 }] }));
    assert.notEqual(canonicalJson({ a: 1 }), canonicalJson({ a: 2 }));
  });
});
