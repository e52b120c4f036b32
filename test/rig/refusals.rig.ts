// Goal: an `up` that must not touch a host ends before it does, and says what to do.
import { doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { it } from 'node:test';
import { differences, listHost } from './host-listing.js';
import { freshRig, skip } from './rig.js';

/** A well-formed key that is nobody's. */
const OTHER_KEY = `ssh-ed25519 ${Buffer.concat([Buffer.from('0000000b7373682d6564323535313900000020', 'hex'), Buffer.alloc(32, 7)]).toString('base64')}`;

it('a host with another key than the pinned one is refused and untouched', { skip }, async (t) => {
  const { machine, stack } = await freshRig(t, { hostKey: OTHER_KEY, hostWaitS: '10' });
  const before = await listHost(machine);
  const up = await stack.run(['up', '--skip-preview']);
  ok(up.code !== 0);
  match(up.stdout + up.stderr, /host key mismatch/);
  strictEqual(differences(before, await listHost(machine)).join('\n'), '');
});

it('a user whose sudo asks for a password is refused in the pre-flight, in words that name the line to add', { skip }, async (t) => {
  const { machine, stack } = await freshRig(t, { user: 'plain' });
  const before = await listHost(machine);
  const up = await stack.run(['up', '--skip-preview']);
  ok(up.code !== 0);
  match(up.stdout + up.stderr, /sudo on this host asks plain for a password/);
  match(up.stdout + up.stderr, /NOPASSWD/);
  doesNotMatch(up.stdout, /base-system created/);
  strictEqual(differences(before, await listHost(machine)).join('\n'), '');
});

it('a config that is wrong is refused with every problem named, before any resource is registered', { skip }, async (t) => {
  const { machine, stack } = await freshRig(t, { cores: 'two', nodeSha256: 'abc' });
  const up = await stack.run(['up', '--skip-preview']);
  ok(up.code !== 0);
  match(up.stdout, /envladder:cores/);
  match(up.stdout, /envladder:nodeSha256/);
  doesNotMatch(up.stdout, /command:remote/);
  strictEqual(await machine.sh('ls -d /var/lib/envladder-rig /home/rig/.envladder-rig 2>/dev/null || true'), '');
});
