// Goal: a run folder that was fetched is the host's, byte for byte, or nothing is left here and the host still has it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import { fetchRun, hasRun } from '../../infra/fetch-run.js';
import type { SshResult, SshSession } from '../../infra/ssh-session.js';

/** A session whose host is this machine's shell; `bend` changes what comes over. */
function localSession(bend: (result: SshResult, command: string) => SshResult = (result) => result): SshSession {
  return {
    close: () => undefined,
    run: (command, { onStdout } = {}) =>
      new Promise((resolve) => {
        const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
        let [stdout, stderr] = ['', ''];
        child.stdout.on('data', (chunk: Buffer) => {
          if (onStdout === undefined) stdout += chunk;
          else onStdout(chunk);
        });
        child.stderr.on('data', (chunk) => {
          stderr += chunk;
        });
        child.on('close', (code) => resolve(bend({ code, stdout, stderr, lost: false }, command)));
      }),
  };
}

function hostWithRun(): string {
  const runs = mkdtempSync(join(tmpdir(), 'envladder-host-runs-'));
  mkdirSync(join(runs, 'smoke-1', 'metrics'), { recursive: true });
  writeFileSync(join(runs, 'smoke-1', 'run.json'), '{"exit_code": 0}');
  writeFileSync(join(runs, 'smoke-1', 'metrics', "it's a name.bin"), Buffer.from([0, 1, 2, 255, 10, 13]));
  return runs;
}

const refused = (words: RegExp) => (error: unknown) =>
  error instanceof EnvladderError &&
  error.code === 'run-folder' &&
  words.test(error.message) &&
  /still on the host: .*--fetch smoke-1/.test(error.message);

describe('fetching a run', () => {
  it('brings every file, leaves sockets and locks behind, and replaces an older copy whole', async () => {
    const runs = hostWithRun();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(runs, 'smoke-1', 'ctl.sock'), resolve));
    writeFileSync(join(runs, 'smoke-1', 'run.lock'), 'x');
    const out = mkdtempSync(join(tmpdir(), 'envladder-fetched-'));
    mkdirSync(join(out, 'smoke-1'));
    writeFileSync(join(out, 'smoke-1', 'of-an-earlier-fetch'), '');
    const folder = await fetchRun(localSession(), '', 'smoke-1', out, runs);
    await new Promise((resolve) => server.close(resolve));
    assert.equal(folder, join(out, 'smoke-1'));
    assert.deepEqual(readdirSync(folder, { recursive: true }).sort(), ['metrics', "metrics/it's a name.bin", 'run.json']);
    assert.deepEqual([...readFileSync(join(folder, 'metrics', "it's a name.bin"))], [0, 1, 2, 255, 10, 13]);
    assert.deepEqual(readdirSync(out), ['smoke-1']);
  });

  it('keeps nothing of a file that came over differently', async () => {
    const out = mkdtempSync(join(tmpdir(), 'envladder-fetched-'));
    const session = localSession((result, command) =>
      command.includes('sha256sum') ? { ...result, stdout: result.stdout.replace(/^./gm, (digit) => (digit === '0' ? '1' : '0')) } : result,
    );
    await assert.rejects(fetchRun(session, '', 'smoke-1', out, hostWithRun()), refused(/came over differently/));
    assert.deepEqual(readdirSync(out), []);
  });

  it('keeps nothing of a stream that broke, nor of a run that is not there', async () => {
    const out = mkdtempSync(join(tmpdir(), 'envladder-fetched-'));
    const lost = localSession((result) => ({ ...result, code: null, lost: true }));
    await assert.rejects(fetchRun(lost, '', 'smoke-1', out, hostWithRun()), refused(/connection was lost/));
    await assert.rejects(
      fetchRun(localSession(), '', 'smoke-1', out, mkdtempSync(join(tmpdir(), 'envladder-host-runs-'))),
      refused(/host's tar ended with/),
    );
    assert.deepEqual(readdirSync(out), []);
    assert.ok(!existsSync(join(out, 'smoke-1')));
    assert.deepEqual(
      [await hasRun(localSession(), '', 'smoke-1', hostWithRun()), await hasRun(localSession(), '', 'smoke-2', hostWithRun())],
      [true, false],
    );
  });
});
