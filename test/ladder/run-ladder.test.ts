// The ladder's decisions, with a crew that has no processes: whatever happens on the way, the record ends whole and says what happened.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { EnvladderError } from '../../harness/contract/errors.js';
import type { Death, RunRecord } from '../../harness/contract/run-record.js';
import { spaceSignature } from '../../harness/contract/spaces.js';
import { createInterrupts } from '../../harness/ladder/interrupts.js';
import { type LadderSeams, runLadder } from '../../harness/ladder/run-ladder.js';
import { type Manifest, sealManifest, sha256 } from '../../harness/learner/checkpoint-format.js';
import { type MemoryRunWriter, openMemoryRunWriter } from '../../harness/store/memory-run-writer.js';
import { writeRunRecord } from '../../harness/store/run-record-file.js';
import { monotonicMs } from '../../harness/supervisor/clock.js';
import { type FakeCrew, fakeCrew } from './fake-crew.js';
import { entry, makePlan, snapshot } from './plan-fixture.js';

const DEATH: Death = {
  role: 'learner',
  worker: null,
  pid: 7,
  cause: 'SIGKILL',
  last_env_id: null,
  last_operation: null,
  stderr_tail: '',
  restarted: false,
  run_s: 0,
};

let root = '';
let number = 0;
before(() => {
  root = mkdtempSync(join(tmpdir(), 'envladder-ladder-'));
});
after(() => rmSync(root, { recursive: true, force: true }));

interface Started {
  readonly dir: string;
  readonly writer: MemoryRunWriter;
  readonly notices: string[];
  readonly interrupts: ReturnType<typeof createInterrupts>;
  readonly outcome: Promise<RunRecord>;
}

function start(crew: FakeCrew, fields: Record<string, unknown> = {}, seams: LadderSeams = {}, resume: string | null = null): Started {
  const plan = makePlan(fields);
  const interrupts = createInterrupts();
  const writer = openMemoryRunWriter();
  const notices: string[] = [];
  const dir = join(root, `run-${number++}`);
  const outcome = runLadder(
    {
      read: { plan, kinds: [], registry: new Map(), module: null, label: 'test' },
      entries: [entry('cartpole')],
      preflight: [],
      runId: 'test-run',
      outDir: dir,
      resume,
      command: 'envladder ladder',
      version: '0',
      gitCommit: null,
      interrupts,
      onBegin: () => undefined,
      onNotice: (message) => notices.push(message),
    },
    { raiseCrew: crew.raise, openRunWriter: () => writer, readLoad: () => null, ...seams },
  ).then(({ record }) => record);
  return { dir, writer, notices, interrupts, outcome };
}

const onDisk = (dir: string): RunRecord => JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as RunRecord;
const codes = (record: RunRecord): string[] => record.validity.reasons.map((reason) => reason.code);

describe('the ladder', { timeout: 30_000 }, () => {
  it('climbs every tier, ends valid with exact sums, and leaves the same record on the disk', async () => {
    const run = start(fakeCrew());
    const record = await run.outcome;
    assert.deepEqual(record.validity, { verdict: 'valid', reasons: [] });
    assert.equal(record.exit_code, 0);
    assert.equal(record.run.state, 'finished');
    assert.deepEqual(
      record.tiers.map(({ envs, complete }) => [envs, complete]),
      [
        [4, true],
        [8, true],
      ],
    );
    assert.deepEqual(onDisk(run.dir), record);
    assert.ok(!existsSync(join(run.dir, 'supervisor.1.lock')), 'the folder is given up');
    assert.deepEqual(
      run.writer.events.map(({ type }) => type),
      ['run-started', 'tier-started', 'tier-live', 'tier-ended', 'tier-started', 'tier-live', 'tier-ended', 'run-stopped'],
    );
    assert.deepEqual(
      run.writer.events.map(({ tier }) => tier),
      [undefined, 0, 0, 0, 1, 1, 1, undefined],
    );
  });

  it('has a record that says `running` while it runs, with the tiers done so far', async () => {
    const crew = fakeCrew();
    const second = crew.measuring(1);
    const run = start(crew);
    await second;
    const record = onDisk(run.dir);
    assert.equal(record.run.state, 'running');
    assert.equal(record.verdict, 'invalid');
    assert.equal(record.tiers.length, 1);
    await run.outcome;
  });

  it('makes tier and run invalid when one frame is unaccounted for', async () => {
    const crew = fakeCrew();
    const second = crew.measuring(1);
    const run = start(crew);
    await second;
    crew.loseFrames(1);
    const record = await run.outcome;
    assert.equal(record.exit_code, 4);
    assert.deepEqual(
      record.tiers.map(({ validity }) => validity.reasons.map(({ code }) => code)),
      [[], ['unbalanced']],
    );
    assert.ok(codes(record).every((code) => code === 'unbalanced'));
    assert.match(record.validity.reasons.at(-1)?.message ?? '', /over the whole run/);
  });

  it("believes the control words, not the learner's own counts, in the final sums", async () => {
    const record = await start(fakeCrew({ unheard: 3 })).outcome;
    assert.deepEqual(
      record.tiers.map(({ validity }) => validity.verdict),
      ['valid', 'valid'],
    );
    assert.deepEqual(codes(record), ['unbalanced']);
    assert.match(
      record.validity.reasons[0]?.message ?? '',
      /^3 frames were counted twice over the whole run|^3 published frames are unaccounted for over the whole run/,
    );
    assert.equal(record.exit_code, 4);
  });

  it('records the tier as incomplete and ends with 4 when the crew fails in its middle', async () => {
    const crew = fakeCrew();
    const first = crew.measuring(0);
    const run = start(crew, { seconds: 3600 });
    await first;
    crew.die(new EnvladderError('learner-died', 'the learner died (SIGKILL)'), DEATH);
    const record = await run.outcome;
    assert.equal(record.exit_code, 4);
    assert.equal(record.run.state, 'failed');
    assert.equal(record.tiers.length, 1);
    assert.equal(record.tiers[0]?.complete, false);
    assert.deepEqual(codes(record), ['learner-died']);
    assert.equal(record.deaths.length, 1);
    assert.deepEqual(onDisk(run.dir), record);
  });

  it('stops once asked: the tier is recorded as far as it came, exit 130', async () => {
    const crew = fakeCrew();
    const first = crew.measuring(0);
    const run = start(crew, { seconds: 3600, drainSeconds: 7 });
    await first;
    run.interrupts.interrupt('SIGINT');
    const record = await run.outcome;
    assert.equal(record.exit_code, 130);
    assert.equal(record.run.state, 'interrupted');
    assert.deepEqual(codes(record), ['interrupted']);
    assert.equal(record.tiers[0]?.complete, false);
    assert.deepEqual(crew.stops, [7000]);
    assert.ok(run.writer.events.some(({ type }) => type === 'interrupted'));
  });

  it('does not hide broken sums, or a lost record, behind the interrupt: exit 4', async () => {
    const interruptedWith = async (crew: FakeCrew, seams: LadderSeams = {}): Promise<RunRecord> => {
      const first = crew.measuring(0);
      const run = start(crew, { seconds: 3600 }, seams);
      await first;
      run.interrupts.interrupt('SIGINT');
      return run.outcome;
    };
    const unbalanced = await interruptedWith(fakeCrew({ unheard: 3 }));
    assert.deepEqual(codes(unbalanced), ['interrupted', 'unbalanced']);
    const full = (): Promise<never> => Promise.reject(new EnvladderError('record-lost', 'ENOSPC'));
    const lost = await interruptedWith(fakeCrew(), { writeRunRecord: full });
    assert.deepEqual(codes(lost), ['interrupted', 'record-lost']);
    const torn = await interruptedWith(fakeCrew({ torn: 1 }));
    assert.deepEqual(codes(torn), ['interrupted', 'torn']);
    const outOfOrder = await interruptedWith(fakeCrew({ outOfOrder: 1 }));
    assert.deepEqual(codes(outOfOrder), ['interrupted', 'out-of-order']);
    for (const record of [unbalanced, lost, torn, outOfOrder]) {
      assert.equal(record.exit_code, 4);
      assert.equal(record.run.state, 'interrupted');
    }
    const silent = await interruptedWith(fakeCrew({ silentEnd: true }));
    assert.deepEqual(codes(silent), ['interrupted', 'unbalanced']);
    assert.equal(silent.exit_code, 130, 'a last count that is missing is not a wrong one');
  });

  it('hurries when asked twice', async () => {
    const crew = fakeCrew({ stubborn: true });
    const first = crew.measuring(0);
    const run = start(crew, { seconds: 3600 });
    await first;
    run.interrupts.interrupt('SIGINT');
    run.interrupts.interrupt('SIGINT');
    const record = await run.outcome;
    assert.equal(record.exit_code, 130);
    assert.ok(
      crew.stops.some((drainMs) => drainMs <= 1000),
      String(crew.stops),
    );
    assert.ok(
      run.notices.some((notice) => notice.includes('faster')),
      run.notices.join('\n'),
    );
  });

  it('counts a worker that died before the first tier into the first tier', async () => {
    const crew: FakeCrew = fakeCrew({ onRaised: () => crew.restartWorker() });
    const record = await start(crew).outcome;
    assert.deepEqual(
      record.tiers.map(({ restarts, validity }) => [restarts, validity.reasons.map(({ code }) => code)]),
      [
        [1, ['worker-died']],
        [0, []],
      ],
    );
    assert.deepEqual(codes(record), ['worker-died']);
    assert.equal(record.exit_code, 4);
  });

  it('counts a range that was given up before the first tier into the first tier alone', async () => {
    const crew: FakeCrew = fakeCrew({ onRaised: () => crew.options().onEvent({ type: 'range-lost', message: 'worker 0: range lost' }) });
    const record = await start(crew).outcome;
    assert.deepEqual(
      record.tiers.map(({ validity }) => validity.reasons.map(({ code }) => code)),
      [['range-lost'], []],
    );
  });

  /** Writes of run.json: one at the start, one after each tier, one at the end. */
  const dyingInWrite = (crew: FakeCrew, number: number): LadderSeams => {
    let writes = 0;
    return {
      writeRunRecord: async (dir, record) => {
        if (++writes === number) {
          await sleep(30);
          crew.restartWorker();
          await sleep(30);
        }
        await writeRunRecord(dir, record);
      },
    };
  };

  it('counts a worker that died while the record was written between two tiers into the second', async () => {
    const crew = fakeCrew();
    const record = await start(crew, {}, dyingInWrite(crew, 2)).outcome;
    assert.deepEqual(
      record.tiers.map(({ restarts, validity }) => [restarts, validity.reasons.map(({ code }) => code)]),
      [
        [0, []],
        [1, ['worker-died']],
      ],
    );
    assert.deepEqual(codes(record), ['worker-died']);
    assert.equal(record.exit_code, 4);
  });

  it('tells of a worker that died after the last tier, while its record was written', async () => {
    const crew = fakeCrew();
    const record = await start(crew, {}, dyingInWrite(crew, 3)).outcome;
    assert.deepEqual(codes(record), ['worker-died']);
    assert.equal(record.exit_code, 4);
  });

  it('gives up when not every env is live by the start deadline', async () => {
    const record = await start(fakeCrew({ late: true })).outcome;
    assert.equal(record.exit_code, 4);
    assert.deepEqual(codes(record), ['not-live']);
    assert.equal(record.tiers.length, 1);
  });

  it('ends early, and says whose fault it was, when not one env is left', async () => {
    const crew = fakeCrew();
    const first = crew.measuring(0);
    const run = start(crew, { seconds: 3600 });
    await first;
    crew.options().onEvent({ type: 'env-failed', message: 'env 0 (mine): step: reward: must be a finite number, found NaN' });
    crew.quarantine(4);
    const record = await run.outcome;
    assert.equal(record.exit_code, 4);
    assert.deepEqual(codes(record), ['failed', 'quarantined']);
    assert.match(record.validity.reasons[1]?.message ?? '', /4 of 4 envs were quarantined; the first: env 0 .* found NaN/);
  });

  it('is invalid while one env is quarantined, and goes on to the end', async () => {
    const crew = fakeCrew();
    crew.quarantine(1);
    const record = await start(crew).outcome;
    assert.equal(record.exit_code, 4);
    assert.equal(record.tiers.length, 2);
    assert.deepEqual(codes(record), ['quarantined', 'quarantined']);
  });

  it('judges the objectives of each tier, names the highest that holds, and ends with 5', async () => {
    const record = await start(fakeCrew(), {
      tiers: [4, { envs: 8, slos: ['batch_fill >= 2'] }],
      slos: ['envs_live >= 4', 'batch_fill >= 0.5'],
    }).outcome;
    assert.deepEqual(
      record.tiers.map(({ slos }) => slos.map(({ slo, value, verdict, aborted }) => [slo, value, verdict, aborted])),
      [
        [
          ['envs_live >= 4', 4, 'met', false],
          ['batch_fill >= 0.5', 1, 'met', false],
        ],
        [
          ['envs_live >= 4', 8, 'met', false],
          ['batch_fill >= 2', 1, 'missed', false],
        ],
      ],
    );
    assert.deepEqual(record.validity, { verdict: 'valid', reasons: [] });
    assert.deepEqual(record.headline, { text: 'holds 4', tier: 0, envs: 4 });
    assert.equal(record.slo_verdict, 'missed');
    assert.equal(record.exit_code, 5);
    assert.equal(record.run.state, 'finished');
  });

  it('ends with 0 when all are met, and with 5 when one could not be measured', async () => {
    const met = await start(fakeCrew(), { slos: ['updates > 0'] }).outcome;
    assert.deepEqual([met.exit_code, met.slo_verdict, met.headline?.text], [0, 'met', 'holds 8']);
    const blind = await start(fakeCrew(), { slos: ['kinds.cartpole.return_mean > 0'] }).outcome;
    assert.deepEqual([blind.exit_code, blind.slo_verdict, blind.headline?.text, blind.verdict], [5, 'not-measured', 'holds none', 'valid']);
  });

  it('calls an invalid run invalid, not missed: exit 4, whatever its objectives say', async () => {
    const crew = fakeCrew();
    crew.quarantine(1);
    const record = await start(crew, { slos: ['sampling_sps > 1e12'] }).outcome;
    assert.equal(record.slo_verdict, 'missed');
    assert.equal(record.exit_code, 4);
  });

  /** Counts as the learner sends them, `afterS` into the tier's measured time. */
  const statsAt = (crew: FakeCrew, afterS: number): void =>
    crew.options().onStats(snapshot({ monotonicMs: monotonicMs() + afterS * 1000, published: 200, taken: 200, trained: 200, updates: 1 }));

  it('ends the climb at an objective that may abort, once its time of grace is over: short, valid, exit 5', async () => {
    const crew = fakeCrew();
    const first = crew.measuring(0);
    const run = start(crew, { seconds: 3600, slos: [{ slo: 'sampling_sps > 1e9', abort: true, after: '30s' }, 'envs_live >= 4'] });
    await first;
    setImmediate(() => statsAt(crew, 31));
    const record = await run.outcome;
    assert.equal(record.tiers.length, 1);
    const [tier] = record.tiers;
    assert.equal(tier?.complete, false);
    assert.deepEqual(
      tier?.slos.map(({ verdict, aborted }) => [verdict, aborted]),
      [
        ['missed', true],
        ['met', false],
      ],
    );
    assert.deepEqual(record.validity, { verdict: 'valid', reasons: [] });
    assert.equal(record.exit_code, 5);
    assert.equal(record.run.state, 'finished');
    assert.ok(run.writer.events.some(({ type, message }) => type === 'warning' && message.includes('which ends the climb')));
  });

  it('does not end the climb within the time of grace, nor for an objective that is met, not measured, or may not abort', async () => {
    const crew = fakeCrew();
    const first = crew.measuring(0);
    const run = start(crew, {
      tiers: [4],
      seconds: 0.6,
      slos: [
        { slo: 'sampling_sps > 1e9', abort: true, after: '30s' },
        { slo: 'updates > 0', abort: true, after: 0 },
        { slo: 'kinds.cartpole.return_mean > 1', abort: true, after: 0 },
        'training_sps > 1e9',
      ],
    });
    await first;
    setImmediate(() => statsAt(crew, 29));
    const record = await run.outcome;
    assert.ok(record.tiers.every(({ complete, slos }) => complete && slos.every(({ aborted }) => !aborted)));
  });

  it('is invalid when one env of many stood still, and names it', async () => {
    const record = await start(fakeCrew({ stuckEnv: 2 }), { tiers: [4] }).outcome;
    assert.deepEqual(codes(record), ['env-stood-still']);
    assert.match(record.validity.reasons[0]?.message ?? '', /^env 2 published 0 frames/);
    assert.equal(record.tiers[0]?.least_frames_per_env, 0);
  });

  it('keeps how busy others were, warns of it, and is invalid beyond the limit of the plan', async () => {
    let ticks = 0;
    const readLoad = () => {
      ticks += 1000;
      return { totalTicks: ticks, busyTicks: ticks * 0.5, stealTicks: 0, ownTicks: ticks * 0.3, throttleEvents: null, meanMhz: null };
    };
    const noisy = await start(fakeCrew(), {}, { readLoad }).outcome;
    assert.equal(noisy.exit_code, 0);
    assert.equal(noisy.tiers[0]?.machine_load?.foreign_share, 0.2);
    assert.deepEqual(
      noisy.warnings.map(({ code }) => code),
      ['foreign-load', 'foreign-load'],
    );
    const strict = await start(fakeCrew(), { quiet: { maxForeignShare: 0.1 } }, { readLoad }).outcome;
    assert.deepEqual(codes(strict), ['foreign-load', 'foreign-load']);
    assert.equal(strict.exit_code, 4);
  });

  it('says at once that it is not the run that was planned, and ends with 4', async () => {
    const run = start(fakeCrew(), { expect: { node: '1' } });
    const record = await run.outcome;
    assert.deepEqual(codes(record), ['node-differs']);
    assert.ok(
      run.notices.some((notice) => /the plan expects 1: the run will be invalid/.test(notice)),
      run.notices.join('\n'),
    );
  });

  it('claims no tier when the sums of the run fail', async () => {
    const record = await start(fakeCrew({ unheard: 3 })).outcome;
    assert.equal(record.headline, null);
  });

  const refusesToResume = async (resume: string, code: string, message: RegExp, fields = {}): Promise<void> => {
    let raised = false;
    const raiseCrew = (): Promise<never> => {
      raised = true;
      return Promise.reject(new Error('raised'));
    };
    const run = start(fakeCrew(), fields, { raiseCrew }, resume);
    await assert.rejects(run.outcome, (error) => error instanceof EnvladderError && error.code === code && message.test(error.message));
    assert.ok(!raised, 'no process was started');
    assert.ok(!existsSync(run.dir), 'no run folder was made');
  };

  it('refuses to go on from no checkpoint and from a damaged one before anything starts', async () => {
    const empty = join(root, 'no-checkpoint');
    mkdirSync(empty);
    await refusesToResume(empty, 'bad-checkpoint', /there is no checkpoint here/);
    const damaged = join(root, 'damaged', '000000000001');
    mkdirSync(damaged, { recursive: true });
    writeFileSync(join(damaged, 'manifest.json'), '{');
    await refusesToResume(join(root, 'damaged'), 'bad-checkpoint', /none is valid \(.*000000000001/);
  });

  it('goes on from a checkpoint that holds a policy of the plan, and refuses one of other envs', async () => {
    const checkpointOf = (name: string, signature: string): string => {
      const at = join(root, name, '000000000001');
      mkdirSync(at, { recursive: true });
      const nothing = sha256(new Uint8Array());
      const files = ['weights', 'first', 'second'].map((part) => ({ name: `policy-0.${part}.f32`, bytes: 0, sha256: nothing }));
      for (const file of files) writeFileSync(join(at, file.name), '');
      const counters = { updates: 0, trained: 0, gradientSteps: 0 };
      const state = { signature, activation: 'tanh', encoder: 'mlp', parameters: [], adam_step: 0, shuffler: [1, 2, 3, 4], counters };
      const policies = [{ ...state, normaliser: null }] as unknown as Manifest['policies'];
      writeFileSync(join(at, 'manifest.json'), sealManifest({ format: 1, run_id: 'old', step: 1, policies, files }));
      return join(root, name);
    };
    await refusesToResume(checkpointOf('others', 'other envs'), 'bad-checkpoint', /holds policies for 'other envs'.*need none of them/);
    const own = checkpointOf('own', spaceSignature(entry('cartpole').spaces));
    assert.equal((await start(fakeCrew(), {}, {}, own).outcome).exit_code, 0);
    await refusesToResume(own, 'bad-usage', /learner 'random' does not train/, { learner: 'random' });
  });

  it('keeps the record of a crew that could not start, and passes the error on', async () => {
    const raiseCrew = (): Promise<never> => Promise.reject(new EnvladderError('bad-checkpoint', 'checkpoint 3 is damaged'));
    const run = start(fakeCrew(), {}, { raiseCrew });
    await assert.rejects(run.outcome, /checkpoint 3 is damaged/);
    const record = onDisk(run.dir);
    assert.equal(record.run.state, 'failed');
    assert.equal(record.exit_code, 2);
    assert.deepEqual(codes(record), ['bad-checkpoint']);
  });

  it('goes on when the disk refuses the record, says so once, and ends with 4 when it still does', async () => {
    const full = (): Promise<never> => Promise.reject(new EnvladderError('record-lost', 'run.json could not be written (writing: ENOSPC)'));
    const run = start(fakeCrew(), {}, { writeRunRecord: full });
    const record = await run.outcome;
    assert.equal(record.exit_code, 4);
    assert.deepEqual(codes(record), ['record-lost']);
    assert.equal(record.tiers.length, 2);
    assert.equal(run.notices.filter((notice) => notice.includes('ENOSPC')).length, 1);
  });

  it('tries again at the end: a disk that came back costs nothing', async () => {
    let writes = 0;
    const flaky = (dir: string, record: RunRecord): Promise<void> =>
      ++writes < 4 ? Promise.reject(new EnvladderError('record-lost', 'ENOSPC')) : writeRunRecord(dir, record);
    const run = start(fakeCrew(), {}, { writeRunRecord: flaky });
    const record = await run.outcome;
    assert.equal(record.exit_code, 0);
    assert.deepEqual(onDisk(run.dir), record);
  });

  it('refuses a second run in the same folder and leaves the first one alone', async () => {
    const run = start(fakeCrew());
    const first = await run.outcome;
    number--;
    const again = start(fakeCrew());
    await assert.rejects(again.outcome, (error) => error instanceof EnvladderError && error.code === 'run-folder');
    number++;
    assert.deepEqual(onDisk(run.dir), first);
  });
});
