// Rows 42 to 44: the database of events, locked by somebody else, kept from tidying up by a long reader, and damaged. The supervisor of these
// rigs is this process, so its event loop is watched directly.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DAMAGED_NAME } from '../../store/damaged-database.js';
import { EVENTS_NAME, WAL_REST_BYTES } from '../../store/events-database.js';
import { WAL_ALARM_BYTES } from '../../store/wal-watch.js';
import { monotonicMs } from '../../supervisor/clock.js';
import type { ChaosRow, Finding } from '../chaos-row.js';
import { type CrewChaosRow, crewRow } from '../crew-row.js';
import { damagePages } from '../damage-pages.js';
import { holdDatabase } from '../hold-database.js';
import { readEvents } from '../invariants/kept-events.js';
import type { Rig } from '../rig.js';
import { until, watchFor } from '../until.js';

/** What the row itself tells while the fault lasts, so that there is something to write. */
const TELL_EVERY_MS = 50;
/** A turn of the supervisor's event loop may not take longer, before patience: a writer that waited for the lock would take seconds. */
const LONGEST_TURN_MS = 300;
/** Of the times of turns, this one: a few are lost to the machine, not to us. */
const TURN_PERCENTILE = 99;

const tell = (rig: Rig, message: string, detail?: Readonly<Record<string, unknown>>): void =>
  rig.hear({ type: 'warning', message, ...(detail === undefined ? {} : { detail }) });
/** Everything handed in so far is on the disk. */
const allWritten = (rig: Rig): boolean => rig.writer.counts().written === rig.events.length;
const alarmMs = (rig: Rig, sinceMs: number, store: string): number | null =>
  rig.eventsSince(sinceMs, 'alarm').find(({ detail }) => detail?.store === store)?.ms ?? null;
const clearedMs = (rig: Rig, sinceMs: number, store: string): number | null =>
  rig.eventsSince(sinceMs, 'alarm-cleared').find(({ detail }) => detail?.store === store)?.ms ?? null;

const LOCKED_MS = 30_000;

/** Row 42, with a lock that is held for `holdMs`. */
export function lockedFor(holdMs: number): CrewChaosRow {
  return crewRow({
    row: 42,
    fault: `events.sqlite locked by another process for ${holdMs / 1000} s`,
    outcome: 'events wait in memory, no event loop is held up, all are written within 5 s of the release',
    recoverLimitMs: 5000,
    async inject(rig) {
      const holder = await holdDatabase(join(rig.dir, EVENTS_NAME), 'write');
      const turns = monitorEventLoopDelay({ resolution: 10 });
      turns.enable();
      const atMs = monotonicMs();
      for (let told = 0; monotonicMs() - atMs < holdMs; told++) {
        tell(rig, `told while the database is locked, ${told}`);
        await watchFor(TELL_EVERY_MS);
      }
      turns.disable();
      const problems: string[] = [];
      const longest = turns.percentile(TURN_PERCENTILE) / 1e6;
      if (longest > LONGEST_TURN_MS * rig.context.patience)
        problems.push(`the supervisor's event loop was held up: ${Math.round(longest)} ms in ${100 - TURN_PERCENTILE} % of its turns`);
      if (allWritten(rig)) problems.push('the lock was not felt: everything was written while it was held');
      await holder.release();
      const releasedMs = monotonicMs();
      return {
        atMs,
        touched: [],
        detected: () => alarmMs(rig, atMs, 'outage'),
        // Counted from the release.
        recovered: () => (allWritten(rig) && clearedMs(rig, atMs, 'outage') !== null ? atMs + monotonicMs() - releasedMs : null),
        undo: () => problems,
        expect: [
          { type: 'alarm', cause: /BUSY|locked/ },
          { type: 'alarm-cleared', cause: /outage/ },
        ],
      };
    },
  });
}

export const sqliteLocked: CrewChaosRow = lockedFor(LOCKED_MS);

/** Makes each event some pages of its own. */
const LONG_DETAIL = { text: 'x'.repeat(20_000) };
const PER_ROUND = 10;

export const walStarved: CrewChaosRow = crewRow({
  row: 43,
  fault: 'a read transaction that stays open keeps the WAL from starting over',
  outcome: 'its growth is told at a limit; it is small again within 60 s of the end of the reader',
  recoverLimitMs: 60_000,
  async inject(rig) {
    const path = join(rig.dir, EVENTS_NAME);
    const bytes = (): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    await rig.writer.flush();
    const holder = await holdDatabase(path, 'read');
    const atMs = monotonicMs();
    let most = 0;
    const told = await until(async () => {
      for (let i = 0; i < PER_ROUND; i++) tell(rig, 'told while the WAL is held', LONG_DETAIL);
      await rig.writer.flush();
      most = Math.max(most, bytes());
      return alarmMs(rig, atMs, 'wal') !== null || most > 4 * WAL_ALARM_BYTES;
    }, 60_000 * rig.context.patience);
    const problems = told && alarmMs(rig, atMs, 'wal') !== null ? [] : [`it grew to ${most} bytes and nothing was said`];
    await holder.release();
    const releasedMs = monotonicMs();
    return {
      atMs,
      touched: [],
      detected: () => alarmMs(rig, atMs, 'wal'),
      // Counted from the reader's end.
      recovered: () => (clearedMs(rig, atMs, 'wal') !== null && bytes() <= WAL_REST_BYTES ? atMs + monotonicMs() - releasedMs : null),
      undo: () => problems,
      expect: [
        { type: 'alarm', cause: /wal/ },
        { type: 'alarm-cleared', cause: /wal/ },
      ],
    };
  },
});

/** Enough for tables of several pages. */
const FILLING = 300;

/** I3 of a rig whose database was replaced: what was handed in after the damage is in the new one, in order, and the new one is sound. */
function judgeNewDatabase(rig: Rig, atMs: number): Finding {
  const { rows, integrity } = readEvents(rig.dir);
  const since = rig.eventsSince(atMs);
  const same = rows.length === since.length && rows.every((row, i) => row.message === since[i]?.message);
  return {
    ok: integrity === 'ok' && same,
    evidence: `${since.length} events since the damage, ${rows.length} in the new database, integrity ${integrity}; the ${rig.events.length - since.length} before it are in the damaged one`,
  };
}

export const databaseDamaged: ChaosRow = (() => {
  const made = {
    row: 44,
    fault: 'pages of events.sqlite overwritten while it is in use',
    outcome: 'it is moved aside, a new one takes the events, one event says so',
    recoverLimitMs: 5000,
  };
  return {
    ...made,
    async run(context) {
      let kept: Finding = { ok: false, evidence: 'the row did not get so far' };
      const crew = crewRow({
        ...made,
        async inject(rig) {
          const path = join(rig.dir, EVENTS_NAME);
          for (let i = 0; i < FILLING; i++) tell(rig, `filling, ${i}`);
          await rig.writer.flush();
          // Into the file, or the WAL would hide the damage.
          await (await holdDatabase(path, 'settle')).release();
          damagePages(path);
          const atMs = monotonicMs();
          tell(rig, 'told after the damage');
          return {
            atMs,
            touched: [],
            detected: () => alarmMs(rig, atMs, 'damaged'),
            recovered: () => {
              const { written } = rig.writer.counts();
              return alarmMs(rig, atMs, 'damaged') !== null && written === rig.events.length ? monotonicMs() : null;
            },
            expect: [{ type: 'alarm', cause: /damaged/ }],
          };
        },
        async verify(rig, fault) {
          await rig.writer.close();
          kept = judgeNewDatabase(rig, fault.atMs);
          return existsSync(join(rig.dir, `${DAMAGED_NAME}1`)) ? [] : ['the damaged database was not kept'];
        },
      });
      const outcome = await crew.run(context);
      return 'skipped' in outcome ? outcome : { ...outcome, findings: { ...outcome.findings, I3: kept } };
    },
  };
})();
