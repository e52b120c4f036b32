import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { PlanInput } from '../../harness/contract/plan.js';
import { holdersOf, isRunning, until } from '../fixtures/test-crew.js';

const PARENT = fileURLToPath(new URL('../fixtures/crew-parent.ts', import.meta.url));

interface Parent {
  readonly pid: number;
  readonly runId: string;
  readonly children: number[];
  readonly workers: number[];
  published(): number;
  hung(): boolean;
  /** SIGKILL, confirmed by the kernel. */
  kill(): Promise<void>;
}

const parents: ChildProcess[] = [];

async function raiseParent(plan: Partial<PlanInput>): Promise<Parent> {
  const child = fork(PARENT, [JSON.stringify(plan)], { execArgv: ['--import', 'tsx'] });
  parents.push(child);
  const [hello] = (await once(child, 'message')) as [{ runId: string; learner: number; workers: number[] }];
  let published = 0;
  let hung = false;
  child.on('message', (message) => {
    const { published: frames, hung: stuck } = message as { published?: number; hung?: boolean };
    published = frames ?? published;
    hung ||= stuck === true;
  });
  return {
    pid: child.pid as number,
    runId: hello.runId,
    workers: hello.workers,
    children: [hello.learner, ...hello.workers],
    published: () => published,
    hung: () => hung,
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function assertAllGone(parent: Parent): Promise<void> {
  await until(() => parent.children.every((pid) => !isRunning(pid)));
  assert.deepEqual(holdersOf(parent.runId), []);
}

describe('a supervisor killed with SIGKILL', { timeout: 60_000 }, () => {
  afterEach(() => {
    for (const parent of parents.splice(0)) parent.kill('SIGKILL');
  });

  it('takes stepping workers and the learner with it', async () => {
    // Goal: kill -9 of the supervisor leaves no process and no memory behind.
    const parent = await raiseParent({ tiers: [64], mix: { cartpole: 1 }, workers: 2 });
    await until(() => parent.published() > 1000);
    assert.equal(holdersOf(parent.runId).length, 4);
    await parent.kill();
    await assertAllGone(parent);
  });

  it('takes a worker with it that hangs in a step and hears nothing', async () => {
    // Goal: the kernel's parent-death signal needs no event loop.
    const schedule = [{ fault: 'spin', atStep: 3, envIds: [4] }];
    const parent = await raiseParent({
      tiers: [16],
      mix: { fault: { share: 1, config: { kind: 'cartpole', schedule } } },
      stepDeadlineSeconds: 300,
    });
    await until(() => parent.hung());
    await parent.kill();
    await assertAllGone(parent);
  });

  it('takes a stopped worker with it', async () => {
    // Goal: SIGSTOP does not save an orphan.
    const parent = await raiseParent({ tiers: [16], mix: { cartpole: 1 }, workers: 2 });
    await until(() => parent.published() > 100);
    process.kill(parent.workers[0] as number, 'SIGSTOP');
    await parent.kill();
    await assertAllGone(parent);
  });
});
