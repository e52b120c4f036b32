import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { fdsOf, holdersOf, raiseTestCrew, stopAllCrews, until } from '../fixtures/test-crew.js';
import { KINDS_MODULE } from '../fixtures/twin-worker.js';

const WATCHDOG = { timeout: 60_000 };
const ODD_LEARNER = new URL('../fixtures/odd-learner.ts', import.meta.url);

/** Running processes whose command line is exactly this. */
function running(...command: string[]): number[] {
  const wanted = `${command.join('\0')}\0`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === wanted;
      } catch {
        return false;
      }
    })
    .map(Number);
}

const children = (): number[] =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
const ownMemfds = (): string[] => fdsOf(process.pid).filter((target) => target.includes('memfd:envladder'));

describe('start of a crew', WATCHDOG, () => {
  afterEach(stopAllCrews);

  it('runs envs whose bounds are infinite under full checks', WATCHDOG, async () => {
    // Goal: infinities of a space reach the worker as such; JSON would have made them null.
    const test = await raiseTestCrew({ tiers: [4], mix: { unbounded: 1 }, check: 'full' }, { module: KINDS_MODULE });
    await until(() => test.crew.scan().published > 100);
    assert.deepEqual([test.crew.scan().quarantined, test.deaths.length], [0, 0]);
    await test.crew.stop(3000);
  });

  it('refuses a module that throws in the worker, with its code, and leaves nothing behind', WATCHDOG, async () => {
    // Goal: a bad module ends the start with its own message, not with "a worker died".
    const folder = mkdtempSync(join(tmpdir(), 'envladder-module-'));
    const module = join(folder, 'kind.mjs');
    // Good in the supervisor, which resolves the spaces; bad in a process with another pid: a worker.
    writeFileSync(
      module,
      `if (process.pid !== ${process.pid}) throw new Error('needs a display');
       export const kind = { name: 'mine', version: '1.0.0', summary: 's', sources: [], spaces: () => ({ observation: { v: { dtype: 'f32', shape: [1], low: 0, high: 1 } }, action: { type: 'discrete', n: 2 } }), create: () => ({}) };`,
    );
    const before = children();
    await assert.rejects(raiseTestCrew({ mix: { mine: 1 } }, { module }), { code: 'bad-module', message: /needs a display/ });
    assert.deepEqual(children(), before);
    assert.deepEqual(ownMemfds(), []);
    rmSync(folder, { recursive: true });
  });

  it('passes on what a learner reports before it is ready', WATCHDOG, async () => {
    // Goal: a missing backend is said with its own code and the way to install it.
    process.env.ENVLADDER_TEST_LEARNER = 'refuse';
    await assert.rejects(raiseTestCrew({}, { seams: { learnerEntry: ODD_LEARNER } }), {
      code: 'backend-missing',
      message: /setup:tfjs-node/,
    });
    assert.deepEqual(ownMemfds(), []);
  });

  it('gives up on a learner that never gets ready', WATCHDOG, async () => {
    // Goal: the handshake has a deadline.
    process.env.ENVLADDER_TEST_LEARNER = 'mute';
    await assert.rejects(raiseTestCrew({ startDeadlineSeconds: 2 }, { seams: { learnerEntry: ODD_LEARNER } }), {
      code: 'learner-died',
      message: /deadline/,
    });
    assert.deepEqual(ownMemfds(), []);
  });

  it('names a worker that dies before it is ready', WATCHDOG, async () => {
    // Goal: a broken installation fails the start at once, with the child's own words.
    await assert.rejects(raiseTestCrew({}, { seams: { workerEntry: new URL('../fixtures/no-such-entry.ts', import.meta.url) } }), {
      code: 'worker-died',
      message: /before it was ready.*no-such-entry/s,
    });
  });

  it("keeps a worker's words out of our output and in the death report", WATCHDOG, async () => {
    // Goal: --json stays clean whatever envs print; the last words are in the record.
    const test = await raiseTestCrew({ tiers: [4], mix: { chatty: 1 } }, { module: KINDS_MODULE });
    await until(() => test.event('worker-restarted') !== undefined);
    const [death] = test.deaths;
    assert.deepEqual([death?.cause, death?.last_env_id, death?.last_operation], ['exit code 9', 1, 'step']);
    assert.match(death?.stderr_tail ?? '', /goodbye on stderr/);
    assert.match(death?.stderr_tail ?? '', /goodbye on stdout/);
    await test.crew.stop(3000);
  });

  it('sweeps what envs started when their worker is killed, and at stop', WATCHDOG, async () => {
    // Goal: a bridge process does not outlive the worker that owned it.
    const test = await raiseTestCrew({ tiers: [3], mix: { parental: 1 } }, { module: KINDS_MODULE });
    await until(() => running('sleep', '347').length === 3);
    const firstLife = running('sleep', '347');
    process.kill(test.workerPid(0), 'SIGKILL');
    // The env in work at that moment may be held responsible: then the second life builds one less.
    const rebuilt = (): number | undefined =>
      test.events.find(({ type, detail }) => type === 'env-created' && detail?.epoch === 1)?.detail?.built as number | undefined;
    await until(() => rebuilt() !== undefined);
    assert.ok((rebuilt() as number) >= 2);
    await until(() => running('sleep', '347').every((pid) => !firstLife.includes(pid)) && running('sleep', '347').length === rebuilt());
    await test.crew.stop(3000);
    await until(() => running('sleep', '347').length === 0);
    assert.deepEqual(holdersOf(test.runId), []);
  });
});
