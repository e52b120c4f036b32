// Turns the run into frames: looks at it once a second, keeps the curves and the list of what happened, and makes for each viewer the
// JSON of what it does not have yet. The costly parts (env states, their JSON) are made once per look and only while somebody watches.
import { randomBytes } from 'node:crypto';
import { ENV_STATES } from '../contract/env-state.js';
import type { LiveEvent, LiveFrame, LiveHead, LiveSource, LiveStatus } from './live-feed.js';
import { createNoticeBoard } from './notice-board.js';
import { createPointHistory } from './point-history.js';
import { countStates, runLengths } from './run-lengths.js';
import { visibleText } from './visible-text.js';

const MAX_NAME_CHARS = 120;
const MAX_COMMAND_CHARS = 600;

export interface FrameMaker {
  note(event: LiveEvent): void;
  /** Looks at the run. */
  look(source: LiveSource): void;
  /** Of the last look; null before the first. */
  readonly status: LiveStatus | null;
  readonly eventCounts: ReadonlyMap<string, number>;
  /** Names the state after the last look: instance, points, events. */
  readonly id: string;
  /** What a viewer whose newest frame is `lastId` lacks, as JSON; null before the first look. */
  frameFor(lastId: string): string | null;
}

/** Reads `instance-points-revision`; zeros for anything else. */
function readId(text: string, instance: string): { points: number; revision: number } {
  const parts = /^([\w]{1,16})-(\d{1,15})-(\d{1,15})$/.exec(text);
  if (parts === null || parts[1] !== instance) return { points: 0, revision: 0 };
  return { points: Number(parts[2]), revision: Number(parts[3]) };
}

function visibleHead(head: LiveHead): LiveHead {
  const name = (text: string): string => visibleText(text, MAX_NAME_CHARS);
  return {
    ...head,
    plan: name(head.plan),
    command: visibleText(head.command, MAX_COMMAND_CHARS),
    tiers: head.tiers.map((tier) => ({ ...tier, label: name(tier.label) })),
    entries: head.entries.map(name),
    ranges: head.ranges.map((range) => ({ ...range, entry: name(range.entry) })),
  };
}

export function createFrameMaker(): FrameMaker {
  const instance = randomBytes(6).toString('hex');
  const points = createPointHistory();
  const board = createNoticeBoard();
  let seen: { source: LiveSource; status: LiveStatus; head: LiveHead } | null = null;
  /** JSON shared by all viewers that lack the same, until the next look. */
  let made = new Map<string, string>();
  let states: Pick<LiveFrame, 'states' | 'stateCounts'> | null = null;

  function statesNow(source: LiveSource): Pick<LiveFrame, 'states' | 'stateCounts'> {
    if (states !== null) return states;
    const bytes = source.envStates();
    states = { states: runLengths(bytes), stateCounts: countStates(bytes, ENV_STATES.length) };
    return states;
  }

  const id = (): string => `${instance}-${points.lastId}-${board.revision}`;
  return {
    note: (event) => board.add(event),
    eventCounts: board.counts,
    get status() {
      return seen?.status ?? null;
    },
    get id() {
      return id();
    },
    look(source) {
      const status = source.status();
      seen = { source, status, head: seen?.head ?? visibleHead(source.head) };
      made = new Map();
      states = null;
      points.add({
        t: status.runSeconds,
        tier: status.tier,
        sampling: status.samplingSps,
        training: status.trainingSps,
        fill: status.batchFill,
        live: status.live,
        returns: source.head.entries.map((entry) => status.kinds[entry]?.recentReturn ?? null),
      });
    },
    frameFor(lastId) {
      if (seen === null) return null;
      const key = `${lastId}>${id()}`;
      const known = made.get(key);
      if (known !== undefined) return known;
      const from = readId(lastId, instance);
      const { whole, points: newer } = points.since(from.points);
      const frame: LiveFrame = {
        whole,
        head: whole ? seen.head : null,
        status: { ...seen.status, label: visibleText(seen.status.label, MAX_NAME_CHARS) },
        tiers: seen.source.tiers(),
        points: newer,
        notices: board.since(whole ? 0 : from.revision),
        ...statesNow(seen.source),
      };
      const json = JSON.stringify(frame);
      made.set(key, json);
      return json;
    },
  };
}
