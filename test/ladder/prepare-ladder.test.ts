// What can be known to be wrong before anything starts is refused while the run is prepared, by the name of what the user typed.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import { checkEnvKind } from '../../harness/ladder/env-commands.js';
import { prepareLadder } from '../../harness/ladder/prepare-ladder.js';
import { resumeFolder } from '../../harness/ladder/resume-folder.js';

let cwd = '';
before(() => {
  cwd = mkdtempSync(join(tmpdir(), 'envladder-prepare-'));
});
after(() => rmSync(cwd, { recursive: true, force: true }));

const refused =
  (code: string, message: RegExp) =>
  (error: unknown): boolean =>
    error instanceof EnvladderError && error.code === code && message.test(error.message);

describe('preparing a ladder', { timeout: 60_000 }, () => {
  for (const empty of ['', ' ']) {
    it(`refuses '${empty}' for --out, --module and --resume`, async () => {
      const request = { plan: 'smoke', flags: {}, out: undefined, cwd };
      await assert.rejects(prepareLadder({ ...request, out: empty }), refused('bad-usage', /^--out: ' ?' names no folder; /));
      await assert.rejects(
        prepareLadder({ ...request, flags: { module: empty } }),
        refused('bad-usage', /^--module: ' ?' names no module; /),
      );
      assert.throws(() => resumeFolder(empty, cwd), refused('bad-usage', /^--resume: ' ?' names no folder; /));
      const check = { kind: 'noop', module: empty, config: undefined, seed: 1, cwd };
      await assert.rejects(checkEnvKind(check), refused('bad-usage', /^--module: ' ?' names no module; /));
    });
  }

  it('refuses convolutions for a kind without an image', async () => {
    const plan = join(cwd, 'cnn.yaml');
    writeFileSync(plan, 'tiers: [8]\nmix: {cartpole: 0.5, field: 0.5}\nppo: {encoder: cnn}\n');
    await assert.rejects(
      prepareLadder({ plan, flags: {}, out: undefined, cwd }),
      refused('bad-plan', /^mix\.cartpole: ppo\.encoder 'cnn' needs a u8 \[h,w,c\] key/),
    );
  });
});
