// Goal: what the slices of a rig used comes from the kernel's own counters, and a host without a rig, or an older kernel, says so with null.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RigFacts } from '../../harness/contract/rig-facts.js';
import { readRigFacts, readSlices, slicesUseBetween } from '../../harness/ladder/rig-slices.js';

function sliceFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'envladder-slice-'));
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}
const factsOf = (slices: Record<string, string>): RigFacts => ({ schema: 1, config_hash: '0123456789abcdef', slices, facts: { gpus: 0 } });
const never = (message: string): void => assert.fail(message);

test('the use of a slice is the growth of its counters, and its memory is as the kernel says at the end', () => {
  const folder = sliceFolder({
    'cpu.stat': 'usage_usec 1000000\nuser_usec 800000\nsystem_usec 200000\nthrottled_usec 0\n',
    'memory.events': 'low 0\noom_kill 1\n',
    'memory.current': '5000\n',
    'memory.peak': '9000\n',
  });
  const facts = factsOf({ workers: folder });
  const from = readSlices(facts);
  writeFileSync(join(folder, 'cpu.stat'), 'usage_usec 3500000\nuser_usec 3000000\nsystem_usec 500000\nthrottled_usec 250000\n');
  writeFileSync(join(folder, 'memory.events'), 'low 0\noom_kill 3\n');
  writeFileSync(join(folder, 'memory.current'), '6000\n');
  assert.deepEqual(slicesUseBetween(from, readSlices(facts)), {
    workers: { cpu_s: 2.5, cpu_system_s: 0.3, throttled_s: 0.25, memory_peak_bytes: 9000, memory_bytes: 6000, oom_kills: 2 },
  });
});

test('a kernel without memory.peak, a slice that is gone and one that was made anew leave null, never zero', () => {
  const old = sliceFolder({ 'cpu.stat': 'usage_usec 900\nsystem_usec 9\n', 'memory.current': '4096\n' });
  const facts = factsOf({ old, gone: join(old, 'not-there') });
  const from = readSlices(facts);
  writeFileSync(join(old, 'cpu.stat'), 'usage_usec 100\nsystem_usec 10\n');
  const nothing = { cpu_s: null, cpu_system_s: null, throttled_s: null, memory_peak_bytes: null, memory_bytes: null, oom_kills: null };
  assert.deepEqual(slicesUseBetween(from, readSlices(facts)), {
    old: { ...nothing, cpu_system_s: 1e-6, memory_bytes: 4096 },
    gone: nothing,
  });
});

test('without the variable there is no rig and nobody is told anything', () => {
  assert.equal(readRigFacts({}, never), null);
  assert.equal(readSlices(null), null);
  assert.equal(slicesUseBetween(null, {}), null);
});

test('facts are read from the file that the variable names', () => {
  const folder = sliceFolder({ 'rig.json': JSON.stringify(factsOf({ workers: '/sys/fs/cgroup/x' })) });
  assert.equal(readRigFacts({ ENVLADDER_RIG_FACTS: join(folder, 'rig.json') }, never)?.config_hash, '0123456789abcdef');
});

test('a file that is missing, damaged or of another schema is said once and costs the run nothing', () => {
  const folder = sliceFolder({ 'cut.json': '{"schema":1,', 'other.json': '{"schema":7}' });
  for (const [name, words] of [
    ['none.json', /cannot be read/],
    ['cut.json', /is not JSON/],
    ['other.json', /not what this version expects \(schema\)/],
  ] as const) {
    const said: string[] = [];
    assert.equal(
      readRigFacts({ ENVLADDER_RIG_FACTS: join(folder, name) }, (message) => said.push(message)),
      null,
    );
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', words);
  }
});
