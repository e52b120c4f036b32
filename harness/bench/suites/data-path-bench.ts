// The native calls of a frame's way, one by one, in one process: claim, publish (check `sampled`), collect, act; and what a call into
// the addon costs at all.
import { loadNative } from '../../../native/index.js';
import type { RowName } from '../bars.js';
import type { Bench, Row } from '../bench.js';
import { createBlockRig, PHASES, type Phase } from '../block-rig.js';
import { runMicroTask } from '../micro.js';

/** As many as the whole run has. */
const SLOTS = 7000;
const ADDON_CALLS = 1000;
const ROW_OF: Readonly<Record<Phase, RowName>> = {
  claim: 'claim_ns_per_slot',
  publish: 'publish_ns_per_slot',
  collect: 'collect_ns_per_slot',
  act: 'act_ns_per_slot',
};

/** Claim, publish, collect, act and the bare addon call. */
export const dataPathBench: Bench = {
  suite: 'micro',
  rows: ['claim_ns_per_slot', 'publish_ns_per_slot', 'collect_ns_per_slot', 'act_ns_per_slot', 'addon_call_ns'],
  async run(context) {
    const addon = loadNative();
    const rows: Row[] = [];
    const rig = await createBlockRig(SLOTS, { kind: 'noop' }, [
      { name: 'in', parts: [{ key: 'vector', transform: 'float', scale: 1, offset: 0 }] },
    ]);
    try {
      for (const phase of PHASES) {
        const note = `${SLOTS} slots a call, 64 floats each, one process`;
        rows.push(
          await runMicroTask(context, { name: ROW_OF[phase], note, calls: SLOTS, before: () => rig.advanceTo(phase), body: rig.step }),
        );
      }
    } finally {
      rig.close();
    }
    let sink = 0;
    rows.push(
      await runMicroTask(context, {
        name: 'addon_call_ns',
        note: 'monotonicNs(), the clock read included',
        calls: ADDON_CALLS,
        body() {
          for (let call = 0; call < ADDON_CALLS; call++) sink += addon.monotonicNs();
        },
      }),
    );
    if (!(sink > 0)) throw new Error('addon_call_ns: the clock stood still');
    return rows;
  },
};
