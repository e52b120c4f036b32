// Goal: the GPU claim reads nvidia-smi, refuses machines without a GPU with a reason, and ends what it started.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gpuProblem, parseBusy, watchGpu } from '../../harness/claims/rigs/gpu-watch.js';
import { gpu90 } from '../../harness/claims/rows/gpu-90.js';
import { until } from '../fixtures/until.js';
import { runRow } from './run-row.js';

test('only percentages are readings', () => {
  assert.deepEqual(['57', ' 3 ', '57, 80', '[N/A]', '', '101', '-1'].map(parseBusy), [57, 3, 57, null, null, null, null]);
});

test('a watch reads what the command prints until it is stopped, and a machine without the command says so', {
  timeout: 60_000,
}, async () => {
  assert.match(gpuProblem('/nonexistent/nvidia-smi') ?? '', /nvidia-smi is not there/);
  const dir = mkdtempSync(join(tmpdir(), 'envladder-gpu-'));
  const fake = join(dir, 'nvidia-smi');
  writeFileSync(
    fake,
    '#!/bin/sh\nif [ "$1" = --query-gpu=name ]; then echo Fake; exit 0; fi\nwhile :; do echo 40; echo "[N/A]"; echo 60; sleep 0.05; done\n',
  );
  chmodSync(fake, 0o755);
  try {
    assert.equal(gpuProblem(fake), null);
    const watch = watchGpu(fake);
    await until(() => watch.readings.length >= 4);
    await watch.stop();
    assert.deepEqual(watch.readings.slice(0, 4), [40, 60, 40, 60]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('the claim is measured where there is a GPU and its backend, and says why elsewhere', { timeout: 300_000 }, async (t) => {
  const { entry, values } = await runRow(gpu90, 1);
  if (entry.state === 'not-testable') {
    assert.match(entry.reason, /GPU|tfjs-node-gpu/);
    return t.skip(entry.reason);
  }
  assert.ok(values('busy', 'gpu').every((busy) => busy >= 0 && busy <= 100));
});
