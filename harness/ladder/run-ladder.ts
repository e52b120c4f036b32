// The composition root: a checked plan becomes a run folder, a crew, tiers, a verdict. Reads top to bottom as a run goes; every part
// it names does one thing. Whatever happens on the way, the crew is stopped, the sums are taken and the record is written.
import { join } from 'node:path';
import type { EntryMessage } from '../contract/messages.js';
import type { RigFacts } from '../contract/rig-facts.js';
import type { RunRecord } from '../contract/run-record.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import { openRunFolder } from '../store/run-folder.js';
import { writeRunRecord } from '../store/run-record-file.js';
import type { RunWriter, RunWriterOptions } from '../store/run-writer.js';
import { openRunWriter } from '../store/threaded-run-writer.js';
import { monotonicMs } from '../supervisor/clock.js';
import type { Crew, CrewOptions } from '../supervisor/crew.js';
import { type CrewSeams, raiseCrew } from '../supervisor/raise-crew.js';
import { type AsPlannedFacts, judgeAsPlanned } from './as-planned.js';
import { climbAll } from './climb-all.js';
import { contractSha256 } from './contract-hash.js';
import { createCrewEar } from './crew-ear.js';
import { finishRun, finishUnstarted } from './finish-run.js';
import type { Interrupts } from './interrupts.js';
import { kindProvenance } from './kind-provenance.js';
import { type LadderObserver, observedWriter } from './ladder-observer.js';
import { createStatusBoard, type LadderStatus } from './ladder-status.js';
import { envRanges, liveSource } from './live-source.js';
import type { LoadReading } from './machine-load.js';
import { readLoad } from './machine-load-probe.js';
import { makeFolder } from './make-folder.js';
import { createNoticeFilter } from './notice-filter.js';
import type { PreflightRow } from './preflight.js';
import type { ReadPlan } from './read-plan.js';
import { readRigFacts, readSlices, slicesUseBetween } from './rig-slices.js';
import { type Journal, openJournal } from './run-journal.js';
import { draftRecord } from './run-record-draft.js';
import { openRunWatch, type RunWatch } from './run-watch.js';
import { requireUsableCheckpoint } from './usable-checkpoint.js';

/** What the second Ctrl-C leaves the children to finish their step. */
const HURRIED_DRAIN_MS = 500;
/** PSS costs milliseconds per mapped gigabyte: it is read this often for metrics and status, and at every tier's end. */
const MEMORY_EVERY_MS = 10_000;

export interface LadderOptions {
  readonly read: ReadPlan;
  /** One per mix entry. */
  readonly entries: readonly EntryMessage[];
  readonly preflight: readonly PreflightRow[];
  readonly runId: string;
  readonly outDir: string;
  /** Checkpoint folder to go on from, or null. */
  readonly resume: string | null;
  /** As it can be typed again; the record adds the backend that `auto` became. */
  readonly command: string;
  readonly version: string;
  readonly gitCommit: string | null;
  readonly interrupts: Interrupts;
  /** Called once the run exists; `read` may be called at any time until the ladder resolves. */
  readonly onBegin: (dir: string, read: () => LadderStatus) => void;
  /** Watches the run: the live page. */
  readonly observer?: LadderObserver;
  /** Something a person should hear of now: a death, a quarantine, a warning. */
  readonly onNotice: (message: string) => void;
}

/** What tests replace. */
export interface LadderSeams {
  readonly raiseCrew?: (options: CrewOptions, seams?: CrewSeams) => Promise<Crew>;
  readonly openRunWriter?: (dir: string, options: RunWriterOptions) => RunWriter;
  readonly readLoad?: () => LoadReading | null;
  readonly writeRunRecord?: (dir: string, record: RunRecord) => Promise<void>;
}

export interface LadderOutcome {
  readonly dir: string;
  /** As it was meant to be written; the folder may hold an older one when the disk refused. */
  readonly record: RunRecord;
}

/**
 * Runs the ladder to its end. Rejects only when nothing could be started: `bad-checkpoint` before there is a folder, `run-folder`,
 * `bad-module`, `backend-missing`, ...; the folder then holds a record that says so (if there is one). Everything later ends in the record.
 */
export async function runLadder(options: LadderOptions, seams: LadderSeams = {}): Promise<LadderOutcome> {
  const { plan } = options.read;
  if (options.resume !== null) requireUsableCheckpoint(options.resume, plan, options.entries);
  makeFolder(options.outDir);
  const folder = await openRunFolder(options.outDir);
  try {
    const writer = observedWriter(
      (seams.openRunWriter ?? openRunWriter)(folder.dir, { onWarning: options.onNotice, onNews: (news) => journal.event(news) }),
      options.observer,
    );
    const envKinds = kindProvenance(options.read);
    const contract = contractSha256(plan, envKinds, options.entries);
    const rig = readRigFacts(process.env, options.onNotice);
    const journal = openJournal({
      dir: folder.dir,
      record: draftRecord({ ...options, id: options.runId, owner: folder.owner, plan, envKinds, contractSha256: contract, rig }),
      writer,
      writeRecord: seams.writeRunRecord ?? writeRunRecord,
      onNotice: options.onNotice,
      monotonicMs,
    });
    await journal.save();
    journal.note(
      'run-started',
      `run ${options.runId}: plan ${plan.name}, ${plan.tiers.map((tier) => tier.envs).join(' -> ')} envs, ${plan.workers} worker(s)`,
    );
    for (const { message } of judgeAsPlanned({ ...asPlanned(options, journal.record), contractAtEnd: null }))
      options.onNotice(`${message}: the run will be invalid`);
    await climbAndJudge(options, { ...seams, rig }, journal, folder.dir);
    return { dir: folder.dir, record: journal.record };
  } finally {
    folder.release();
  }
}

async function climbAndJudge(
  options: LadderOptions,
  seams: LadderSeams & { rig: RigFacts | null },
  journal: Journal,
  dir: string,
): Promise<void> {
  const { interrupts } = options;
  const slicesFrom = readSlices(seams.rig);
  const notices = createNoticeFilter(options.onNotice);
  let latest: LearnerSnapshot | null = null;
  let crew: Crew | null = null;
  let memory: Record<string, number> = {};
  let memoryAtMs = Number.NEGATIVE_INFINITY;
  const board = createStatusBoard({
    plan: options.read.plan,
    runSeconds: journal.runSeconds,
    scan: () => crew?.scan() ?? { published: 0, taken: 0, live: 0, quarantined: 0 },
    restarts: () => crew?.restarts ?? 0,
    memory: () => memory,
  });
  const readMemory = (): void => {
    if (crew === null || monotonicMs() - memoryAtMs < MEMORY_EVERY_MS) return;
    memoryAtMs = monotonicMs();
    memory = Object.fromEntries(Object.entries(crew.memory()).map(([role, { pssBytes }]) => [role, pssBytes]));
  };
  let watch: RunWatch | null = null;
  const ear = createCrewEar({ journal, dir, listeners: [(event) => watch?.hear(event), notices.hear] });
  options.onBegin(dir, board.read);
  options.observer?.begin(liveSource(options, { record: journal.record, status: board.read, crew: () => crew }));

  try {
    watch = await openRunWatch({
      runId: options.runId,
      plan: options.read.plan,
      label: options.read.label,
      dir,
      ranges: envRanges(options),
      startedAt: journal.record.run.started_at,
      beganMs: monotonicMs() - journal.runSeconds() * 1000,
      nowMs: monotonicMs,
      status: board.read,
      emit: ear.hear,
      onNotice: options.onNotice,
    });
    crew = await (seams.raiseCrew ?? raiseCrew)(
      {
        runId: options.runId,
        plan: options.read.plan,
        entries: options.entries,
        module: options.read.module,
        checkpointDir: options.read.plan.learner === 'ppo' ? join(dir, 'checkpoints') : null,
        resume: options.resume,
        onEvent: ear.hear,
        onDeath: (death) => {
          journal.death(death);
          watch?.death(death);
        },
        onStats: (snapshot) => {
          latest = snapshot;
          readMemory();
          journal.metric(board.take(snapshot));
        },
      },
      watch.detector === undefined ? {} : { detector: watch.detector },
    );
  } catch (error) {
    await watch?.close();
    await finishUnstarted(journal, error);
    throw error;
  }
  const watched = watch;
  watched.attend(crew);
  journal.record.learner.backend = crew.backend;
  journal.record.learner.backend_version = crew.backendVersion;
  const { learner, backend } = options.read.plan;
  if (learner === 'ppo' && backend === 'auto' && crew.backend !== null) journal.record.run.command += ` --backend ${crew.backend}`;
  journal.record.run.resumed_from = crew.resumedFrom;

  const climb = await climbAll({
    runId: options.runId,
    plan: options.read.plan,
    entries: options.entries,
    interrupts,
    crew,
    journal,
    board: {
      ...board,
      setPhase(phase, tier) {
        board.setPhase(phase, tier);
        if (phase === 'measuring') watched.beginMeasure();
      },
    },
    latest: () => latest,
    facts: ear.facts,
    readLoad: seams.readLoad ?? readLoad,
    readSlices: () => readSlices(seams.rig),
    say: options.onNotice,
  });
  board.setPhase('stopping', Math.max(0, journal.record.tiers.length - 1));
  if (interrupts.count() > 0) {
    journal.note('interrupted', 'stop asked for; draining');
    options.onNotice(`stopping: checkpoint and drain, at most ${options.read.plan.drainSeconds} s (Ctrl-C again: faster)`);
  }
  void interrupts.second.then(() => {
    options.onNotice('stopping faster: what has not finished in half a second is killed');
    void climb.crew.stop(HURRIED_DRAIN_MS);
  });
  watched.beginStop();
  const hurried = interrupts.count() > 1;
  const end = await climb.crew.stop(hurried ? HURRIED_DRAIN_MS : options.read.plan.drainSeconds * 1000);
  board.setPhase('done', Math.max(0, journal.record.tiers.length - 1));
  notices.close();
  journal.record.health = await watched.finish();
  if (journal.record.rig !== null) journal.record.rig.slices = slicesUseBetween(slicesFrom, readSlices(seams.rig));
  await watched.close();
  await finishRun({
    plan: options.read.plan,
    journal,
    end,
    interrupted: interrupts.count() > 0,
    failure: climb.failure,
    notAsPlanned: judgeAsPlanned({ ...asPlanned(options, journal.record), contractAtEnd: contractNow(options) }),
  });
}

function asPlanned({ read }: LadderOptions, { machine, contract_sha256 }: RunRecord): Omit<AsPlannedFacts, 'contractAtEnd'> {
  return { expect: read.plan.expect, machine, seed: read.plan.seed, contractAtStart: contract_sha256 };
}

/** The envs' code as it lies on the disk now. */
function contractNow({ read, entries }: LadderOptions): string {
  return contractSha256(read.plan, kindProvenance(read), entries);
}
