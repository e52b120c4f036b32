// Goal: every process gets what the plan asks of the scheduler, a refusal ends nothing, and the record can say what was granted.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { schedulingSchema } from '../../harness/contract/plan-health.js';
import type { CrewEvent } from '../../harness/supervisor/crew.js';
import { createScheduling, type SchedulingCalls } from '../../harness/supervisor/scheduling.js';
import { shareCores } from '../../harness/supervisor/scheduling-cores.js';
import { loadNative } from '../../native/index.js';

interface Refusals {
  readonly fifo?: number;
  readonly nice?: number;
  readonly affinity?: number;
}

function rig(plan: Record<string, unknown>, cores: number[], processes: number, refusals: Refusals = {}) {
  const calls: string[] = [];
  const events: CrewEvent[] = [];
  const answers: Record<string, number> = { ...refusals };
  const fake: SchedulingCalls = {
    getAffinity: () => cores,
    setAffinity: (pid, cpus) => {
      calls.push(`${pid} on ${cpus.join(',')}`);
      return answers.affinity ?? 0;
    },
    setNice: (pid, nice) => {
      calls.push(`${pid} nice ${nice}`);
      return answers.nice ?? 0;
    },
    setScheduler: (pid, policy, priority) => {
      calls.push(`${pid} ${policy} ${priority}`);
      return answers.fifo ?? 0;
    },
  };
  const scheduling = createScheduling({ plan: schedulingSchema.parse(plan), processes, calls: fake, emit: (event) => events.push(event) });
  return { scheduling, calls, events, answers };
}

describe('cores', () => {
  it('are shared so that no two processes have the same, the learner takes what is left, or nobody is pinned', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 4000 }), { maxLength: 40 }),
        fc.integer({ min: 0, max: 45 }),
        (cores, processes) => {
          const shares = shareCores(cores, processes);
          if (shares === null) {
            assert.ok(cores.length <= processes);
            return;
          }
          assert.deepEqual([...shares.workers.flat(), ...shares.learner], cores);
          assert.ok(shares.learner.length >= 1 && shares.workers.every((mine) => mine.length === 1));
        },
      ),
    );
  });
});

describe('scheduling', () => {
  it('that asks for nothing calls nothing and says nothing', () => {
    const { scheduling, calls, events } = rig({}, [0, 1], 1);
    scheduling.apply('learner', 10);
    scheduling.apply(0, 11);
    scheduling.announce();
    assert.deepEqual([calls, events, scheduling.grants], [[], [], []]);
  });

  it('pins and renices by role, for new lives too, and says so in one event', () => {
    const { scheduling, calls, events } = rig({ affinity: true, nice: { learner: -5, worker: 3 } }, [0, 1, 4, 5], 2);
    scheduling.apply('learner', 10);
    scheduling.apply(0, 11);
    scheduling.apply(1, 12);
    scheduling.announce();
    scheduling.announce();
    scheduling.apply(1, 13);
    assert.deepEqual(calls, ['10 on 4,5', '10 nice -5', '11 on 0', '11 nice 3', '12 on 1', '12 nice 3', '13 on 1', '13 nice 3']);
    assert.equal(events.length, 1);
    assert.deepEqual(
      scheduling.grants.map(({ role, asked, granted, why_not }) => [role, asked, granted, why_not]),
      [
        ['learner', 'the cores that workers leave', '2 cores', null],
        ['learner', 'nice -5', 'nice -5', null],
        ['worker', 'one core a process', 'a core of its own', null],
        ['worker', 'nice 3', 'nice 3', null],
      ],
    );
    assert.deepEqual(events[0]?.detail?.grants, scheduling.grants);
  });

  it('pins nobody on a machine with fewer cores than processes, and says how many it takes', () => {
    const { scheduling, calls } = rig({ affinity: true }, [0, 1], 2);
    scheduling.apply('learner', 10);
    scheduling.apply(0, 11);
    assert.deepEqual(calls, []);
    assert.match(scheduling.grants[1]?.why_not ?? '', /2 worker processes and a learner need 3 cores.*there are 2/);
  });

  it('falls back to nice when SCHED_FIFO is refused, with exactly one event for any number of processes', () => {
    // Goal: row 17 of the fault matrix.
    const { scheduling, calls, events } = rig({ fifo: 50, nice: { worker: 5 } }, [0], 3, { fifo: -1 });
    for (const process of [0, 1, 2]) scheduling.apply(process, 11 + process);
    scheduling.announce();
    scheduling.apply(0, 20);
    assert.deepEqual(calls.slice(0, 2), ['11 fifo 50', '11 nice 5']);
    assert.equal(events.length, 1);
    assert.equal(events[0]?.type, 'scheduling');
    assert.match(events[0].message, /^scheduling: worker: SCHED_FIFO 50, granted SCHED_OTHER with its nice value \(not permitted/);
  });

  it('tells a refusal that comes later, once', () => {
    const { scheduling, events, answers } = rig({ fifo: 50 }, [0], 2);
    scheduling.apply(0, 11);
    scheduling.announce();
    answers.fifo = -1;
    for (const pid of [12, 13]) scheduling.apply(1, pid);
    assert.equal(events.length, 2);
    assert.deepEqual(
      scheduling.grants.map(({ granted }) => granted),
      ['SCHED_FIFO 50', 'SCHED_OTHER with its nice value'],
    );
  });

  it('keeps still about a process that has ended meanwhile', () => {
    const { scheduling, events } = rig({ affinity: true, fifo: 1, nice: { learner: 2 } }, [0, 1], 1, { fifo: -3, nice: -3, affinity: -3 });
    scheduling.apply('learner', 10);
    scheduling.apply(0, 11);
    scheduling.announce();
    assert.deepEqual([scheduling.grants, events], [[], []]);
  });
});

describe('the kernel', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  it('takes nice and cores for all threads of a child', () => {
    const child = spawn('sleep', ['100']);
    children.push(child);
    const pid = child.pid ?? 0;
    const native = loadNative();
    const cores = native.getAffinity(0);
    assert.ok(Array.isArray(cores));
    const scheduling = createScheduling({
      plan: schedulingSchema.parse({ affinity: true, nice: { worker: 7 } }),
      processes: 1,
      calls: native,
      emit: () => undefined,
    });
    scheduling.apply(0, pid);
    assert.deepEqual(native.getNice(pid), { nice: 7 });
    const allowed = /^Cpus_allowed_list:\s+(.+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    if (cores.length >= 2) assert.equal(allowed, String(cores[0]));
  });
});
