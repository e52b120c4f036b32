// What watching costs: agent steps per second of 7,000 noop envs with the live page served to one viewer, over the same without it. One
// crew, both sides in turn, the order swapped from pair to pair. noop leaves no idle core to hide in.
import { request } from 'node:http';
import { createFrameMaker } from '../../live/frame-maker.js';
import type { LiveSource } from '../../live/live-feed.js';
import { type LiveServer, startLiveServer } from '../../live/live-server.js';
import type { Crew } from '../../supervisor/crew.js';
import type { Bench, Row } from '../bench.js';
import { raiseBenchCrew } from '../crew-rig.js';
import { createRigPlan } from '../rig-plan.js';
import { rowFrom, takeWindows } from '../windows.js';

const ENVS = 7000;
const LOOKS = 100;

interface Pair {
  readonly served: number;
  readonly alone: number;
}

/** The crew as the page sees it; figures that the ladder adds are made up, their cost is not in the making. */
function sourceOf(crew: Crew): LiveSource {
  const began = performance.now();
  return {
    head: {
      runId: 'bench',
      plan: 'bench',
      command: '',
      tiers: [{ label: String(ENVS), envs: ENVS, seconds: 1 }],
      entries: ['noop'],
      envs: ENVS,
      ranges: [{ first: 0, count: ENVS, entry: 'noop', worker: 0 }],
    },
    status: () => ({
      phase: 'measuring',
      tier: 0,
      label: String(ENVS),
      envs: ENVS,
      ...crew.scan(),
      runSeconds: (performance.now() - began) / 1000,
      tierSeconds: 0,
      plannedSeconds: 1,
      etaSeconds: 0,
      samplingSps: 0,
      trainingSps: 0,
      batchFill: 1,
      updates: 0,
      restarts: crew.restarts,
      memoryBytes: 0,
      kinds: {},
    }),
    tiers: () => [],
    envStates: () => crew.envStates(),
  };
}

/** A viewer that reads and forgets; resolves once its first frame came. */
function watch({ port, token }: LiveServer): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: `/events?token=${token}`, agent: false }, (response) => {
      response.once('data', () => resolve());
      response.on('error', () => undefined).resume();
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** CPU milliseconds of this process for one look and the frame of a new viewer, mean of many. */
function lookMs(crew: Crew): number {
  const maker = createFrameMaker();
  const source = sourceOf(crew);
  const before = process.cpuUsage();
  for (let i = 0; i < LOOKS; i++) {
    maker.look(source);
    maker.frameFor('');
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / LOOKS;
}

/** live_page_cost, live_look_ms. */
export const livePageBench: Bench = {
  suite: 'process',
  rows: ['live_page_cost', 'live_look_ms'],
  async run(context): Promise<Row[]> {
    const windowMs = context.quick ? 500 : 4000;
    const { crew, stop } = await raiseBenchCrew(await createRigPlan(ENVS, { kind: 'noop' }));
    const rate = async (): Promise<number> => {
      const began = performance.now();
      const before = crew.scan().published;
      await new Promise((later) => setTimeout(later, windowMs));
      return ((crew.scan().published - before) * 1000) / (performance.now() - began);
    };
    const served = async (): Promise<number> => {
      const server = await startLiveServer({ port: 0, page: true, metrics: true, token: undefined, onTrouble: context.say });
      try {
        server.begin(sourceOf(crew));
        await watch(server);
        return await rate();
      } finally {
        await server.close();
      }
    };
    try {
      await rate();
      const windows = await takeWindows<Pair>(context, { windows: context.quick ? 2 : 9, label: 'live_page_cost' }, async (attempt) => {
        if (attempt % 2 === 0) return { served: await served(), alone: await rate() };
        const alone = await rate();
        return { served: await served(), alone };
      });
      const looks = await takeWindows(context, { windows: context.quick ? 2 : 9, label: 'live_look_ms' }, () => lookMs(crew));
      return [
        rowFrom('live_page_cost', windows, (pair) => pair.served / pair.alone, `${ENVS} noop envs, one viewer, a look a second`),
        rowFrom('live_look_ms', looks, (ms) => ms, `CPU of one look at ${ENVS} envs and its frame; once a second`),
      ];
    } finally {
      await stop();
    }
  },
};
