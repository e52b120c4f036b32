// What a reader must see at episode edges, cell by cell, in each autoreset mode: one table, run over every memory. A harness gives a
// range port to step and the frames its reader takes; runEdgeTable registers the tests. Import it from the test of a new memory.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AUTORESET_MODES, type AutoresetMode, FINAL, FIRST, TERMINATED, TRUNCATED } from '../../harness/contract/frame-flags.js';
import { constructSlots } from '../../harness/envs/construct-slots.js';
import { decodeProbe, probeValue } from '../../harness/envs/kinds/probe.js';
import type { RangePort } from '../../harness/envs/range-port.js';
import { createRegistry, type ResolvedKind, resolveKind } from '../../harness/envs/registry.js';
import { createSlotTable } from '../../harness/envs/slot-table.js';
import { publishClaimed, stepClaimed } from '../../harness/envs/step-claimed.js';

export interface EdgeFrame {
  readonly slot: number;
  readonly obs: ArrayLike<number>;
  readonly reward: number;
  readonly flags: number;
  /** Where flags have FINAL. */
  readonly final: ArrayLike<number> | undefined;
}

export interface EdgeEpisode {
  readonly slot: number;
  readonly total: number;
  readonly length: number;
}

export interface EdgeHarness {
  readonly port: RangePort;
  /** Takes every frame published since the last call: one per slot, in any order. Values are copies. */
  collect(): { readonly frames: readonly EdgeFrame[]; readonly episodes: readonly EdgeEpisode[] };
  /** Answers the frames of the last collect: with any action, or with the command to reset. */
  answer(slots: readonly number[], reset: boolean): void;
  close(): void;
}

export type MakeEdgeHarness = (
  kind: ResolvedKind,
  options: { readonly slots: number; readonly firstEnvId: number; readonly autoreset: AutoresetMode },
) => EdgeHarness;

/**
 * One row per frame: `episode.step reward marks`. Marks: F first, T terminated, X truncated (cut), `=e.s` the kept final observation.
 * A leading `!` says that the reader commands a reset before this frame.
 */
type Rows = readonly string[];

interface Scenario {
  readonly name: string;
  readonly config: Record<string, unknown>;
  readonly rows: Readonly<Record<AutoresetMode, Rows>>;
}

const cutAtFour: Scenario['rows'] = {
  'next-step': ['0.0 0 F', '0.1 1', '0.2 2', '0.3 3', '0.4 4 X', '1.0 0 F', '1.1 1', '1.2 2', '1.3 3', '1.4 4 X', '2.0 0 F', '2.1 1'],
  'same-step': ['0.0 0 F', '0.1 1', '0.2 2', '0.3 3', '1.0 4 X =0.4', '1.1 1', '1.2 2', '1.3 3', '2.0 4 X =1.4', '2.1 1'],
  disabled: ['0.0 0 F', '0.1 1', '0.2 2', '0.3 3', '0.4 4 X', '!1.0 0 F', '1.1 1', '1.2 2', '1.3 3', '1.4 4 X', '!2.0 0 F', '2.1 1'],
};

/** The rows with the mark of a cut replaced by `marks`. */
function marked(rows: Scenario['rows'], marks: string): Scenario['rows'] {
  const swap = (list: Rows): Rows => list.map((row) => row.replace(' X', ` ${marks}`));
  return { 'next-step': swap(rows['next-step']), 'same-step': swap(rows['same-step']), disabled: swap(rows.disabled) };
}

export const EDGE_SCENARIOS: readonly Scenario[] = [
  { name: 'episodes of 4 steps, cut by the time limit', config: { episodeSteps: 4 }, rows: cutAtFour },
  { name: 'episodes of 4 steps, terminated', config: { terminateAt: 4 }, rows: marked(cutAtFour, 'T') },
  { name: 'episodes of 4 steps, truncated by the env itself', config: { truncateAt: 4 }, rows: cutAtFour },
  {
    name: 'termination on the time limit’s step keeps both flags',
    config: { episodeSteps: 4, terminateAt: 4 },
    rows: marked(cutAtFour, 'TX'),
  },
  { name: 'one static buffer reused by the env', config: { episodeSteps: 4, reuseBuffer: true }, rows: cutAtFour },
  {
    name: 'episodes of length 1',
    config: { episodeSteps: 1 },
    rows: {
      'next-step': ['0.0 0 F', '0.1 1 X', '1.0 0 F', '1.1 1 X', '2.0 0 F', '2.1 1 X'],
      'same-step': ['0.0 0 F', '1.0 1 X =0.1', '2.0 1 X =1.1', '3.0 1 X =2.1'],
      disabled: ['0.0 0 F', '0.1 1 X', '!1.0 0 F', '1.1 1 X', '!2.0 0 F', '2.1 1 X'],
    },
  },
  {
    name: 'a manual reset clears edge state',
    config: { episodeSteps: 4 },
    rows: {
      // After step 3, so that a time limit that counts on would fire one step later; then on top of an end: one reset, not two.
      'next-step': ['0.0 0 F', '0.1 1', '0.2 2', '0.3 3', '!1.0 0 F', '1.1 1', '1.2 2', '1.3 3', '1.4 4 X', '!2.0 0 F', '2.1 1'],
      'same-step': ['0.0 0 F', '0.1 1', '0.2 2', '0.3 3', '!1.0 0 F', '1.1 1', '1.2 2', '1.3 3', '2.0 4 X =1.4', '!3.0 0 F', '3.1 1'],
      disabled: ['0.0 0 F', '0.1 1', '0.2 2', '0.3 3', '!1.0 0 F', '1.1 1', '1.2 2', '1.3 3', '1.4 4 X', '!2.0 0 F', '2.1 1'],
    },
  },
];

const ELEMENTS = 5;
const SLOTS = 3;
const FIRST_ENV_ID = 40;
const STATISTICS_EPISODES = 10;

interface Expected {
  readonly command: boolean;
  readonly episode: number;
  readonly step: number;
  readonly reward: number;
  readonly flags: number;
  readonly final: { readonly episode: number; readonly step: number } | undefined;
}

function parseRow(row: string): Expected {
  const [, command, episode, step, reward, marks, finalEpisode, finalStep] =
    /^(!?)(\d+)\.(\d+) (\d+)(?: ([FTX]+))?(?: =(\d+)\.(\d+))?$/.exec(row) ?? assert.fail(`bad row ${row}`);
  const has = (mark: string, bit: number): number => ((marks ?? '').includes(mark) ? bit : 0);
  const final = finalEpisode === undefined ? undefined : { episode: Number(finalEpisode), step: Number(finalStep) };
  return {
    command: command === '!',
    episode: Number(episode),
    step: Number(step),
    reward: Number(reward),
    flags: has('F', FIRST) | has('T', TERMINATED) | has('X', TRUNCATED) | (final === undefined ? 0 : FINAL),
    final,
  };
}

function checkCells(what: string, obs: ArrayLike<number>, envId: number, episode: number, step: number): void {
  assert.equal(obs.length, ELEMENTS, what);
  for (let j = 0; j < ELEMENTS; j++) {
    const found = decodeProbe(obs[j] as number);
    assert.equal(
      obs[j],
      probeValue(envId, episode, step, j),
      `${what}[${j}]: found ${JSON.stringify(found)}, want ${envId} ${episode}.${step}`,
    );
  }
}

async function openHarness(make: MakeEdgeHarness, mode: AutoresetMode, config: Record<string, unknown>) {
  const kind = resolveKind(await createRegistry(), 'probe', { elements: ELEMENTS, ...config });
  const harness = make(kind, { slots: SLOTS, firstEnvId: FIRST_ENV_ID, autoreset: mode });
  const table = createSlotTable(kind, harness.port, { baseSeed: 1 });
  await constructSlots(table);
  const round = () => {
    assert.equal(harness.port.claim(SLOTS), SLOTS, 'every answered slot is claimed');
    stepClaimed(table);
    assert.equal(publishClaimed(table, 'full'), SLOTS);
    const taken = harness.collect();
    assert.equal(taken.frames.length, SLOTS, 'every published frame is taken');
    return taken;
  };
  return { harness, round };
}

/** Registers the whole table as tests. `make` is called once per scenario, mode and stepping path. */
export function runEdgeTable(memory: string, make: MakeEdgeHarness): void {
  const all = Array.from({ length: SLOTS }, (_, slot) => slot);
  for (const mode of AUTORESET_MODES) {
    describe(`episode edges, ${memory} memory, autoreset ${mode}`, () => {
      for (const scenario of EDGE_SCENARIOS) {
        for (const many of scenario.config.reuseBuffer === true ? [false] : [false, true]) {
          it(`${scenario.name}${many ? ', through stepMany' : ''}`, { timeout: 20_000 }, async () => {
            // Goal: observation, reward, flags and kept final of each frame are the table's, in every cell of every slot.
            const { harness, round } = await openHarness(make, mode, { ...scenario.config, many });
            for (const [frame, row] of scenario.rows[mode].entries()) {
              const want = parseRow(row);
              if (frame > 0) harness.answer(all, want.command);
              for (const got of round().frames) {
                const what = `frame ${frame} of slot ${got.slot} (${row})`;
                checkCells(what, got.obs, FIRST_ENV_ID + got.slot, want.episode, want.step);
                assert.equal(got.reward, want.reward, what);
                assert.equal(got.flags, want.flags, what);
                assert.equal(got.final !== undefined, want.final !== undefined, what);
                if (want.final === undefined || got.final === undefined) continue;
                checkCells(`final of ${what}`, got.final, FIRST_ENV_ID + got.slot, want.final.episode, want.final.step);
              }
            }
            harness.close();
          });
        }
      }
      it(`return and length of episodes 1 to ${STATISTICS_EPISODES}`, { timeout: 20_000 }, async () => {
        // Goal: statistics count transitions only: resets add no step, the step that ends an episode belongs to it.
        const { harness, round } = await openHarness(make, mode, { episodeSteps: 4, terminateAt: 4 });
        const seen: EdgeEpisode[][] = all.map(() => []);
        let ended = false;
        for (let frame = 0; (seen[0] as EdgeEpisode[]).length < STATISTICS_EPISODES; frame++) {
          assert.ok(frame < 20 * STATISTICS_EPISODES, 'episodes never end');
          if (frame > 0) harness.answer(all, ended && mode === 'disabled');
          const { frames, episodes } = round();
          ended = frames.some((got) => (got.flags & (TERMINATED | TRUNCATED)) !== 0);
          for (const episode of episodes) seen[episode.slot]?.push(episode);
        }
        for (const slot of all) {
          const want = Array.from({ length: STATISTICS_EPISODES }, () => ({ slot, total: 1 + 2 + 3 + 4, length: 4 }));
          assert.deepEqual(seen[slot], want);
        }
        harness.close();
      });
    });
  }
}
