// Goal: the parts that the rig tests judge by are right: reading the CLI's figures, comparing listings, and Pulumi's wire format of secrets.
import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from './host-listing.js';
import { resourceCounts } from './stack.js';
import { canonical, hasSecret, reveal, wrapSecret } from './stand-ins/secret-values.mjs';

test('the figures are those of the last block of resources', () => {
  const text =
    'Resources:\n    + 9 to create\n\nUpdating\nResources:\n    + 1 created\n    ~ 2 updated\n    +-3 replaced\n    12 unchanged\n    1 errored\n\nDuration: 3s\n';
  deepStrictEqual(resourceCounts(text), { created: 1, updated: 2, replaced: 3, unchanged: 12, errored: 1 });
  deepStrictEqual(resourceCounts('nothing'), {});
});

test('two listings differ by what only one of them has', () => {
  deepStrictEqual(differences(['a', 'b'], ['a', 'b']), []);
  deepStrictEqual(differences(['a', 'gone'], ['a', 'new']), ['- gone', '+ new']);
});

test('a secret is found at any depth, and revealed whole', () => {
  const props = { plain: 1, list: [{ inner: wrapSecret('hidden') }] };
  strictEqual(hasSecret(props), true);
  strictEqual(hasSecret({ plain: 1, list: [null] }), false);
  deepStrictEqual(reveal(props), { plain: 1, list: [{ inner: 'hidden' }] });
});

test('values are compared by content: the order of keys and the folder of an asset do not count', () => {
  const asset = (path: string, hash: string): unknown => ({
    '4dabf18193072939515e22adb298388d': 'c44067f5952c0a294b673a41bacd8c17',
    path,
    hash,
  });
  strictEqual(canonical({ a: 1, b: [2] }), canonical({ b: [2], a: 1 }));
  strictEqual(canonical(asset('/here/x', 'h')), canonical(asset('/there/x', 'h')));
  notStrictEqual(canonical(asset('/here/x', 'h')), canonical(asset('/here/x', 'other')));
});
