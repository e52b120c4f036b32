// I2: one live writer per slot. Epochs and frame numbers never fall, every restart of a worker raises its epoch, and no two of a seat's
// processes ever lived at the same time (rig-watch of overlaps, from /proc).
import type { Finding } from '../chaos-row.js';
import type { Rig } from '../rig.js';

export function judgeWriters(rig: Rig): Finding {
  const problems = [...rig.sampler.falls];
  const epochs = new Map<number, number>();
  let restarts = 0;
  for (const { type, worker, detail } of rig.events) {
    if (worker === undefined || !/^worker-(started|restarted|replaced)$/.test(type)) continue;
    const epoch = Number(detail?.epoch);
    const last = epochs.get(worker);
    if (Number.isNaN(epoch)) continue;
    if (last !== undefined) restarts++;
    if (last !== undefined && epoch <= last) problems.push(`worker ${worker} came back under epoch ${epoch} after ${last}`);
    epochs.set(worker, epoch);
  }
  // What the slots themselves say, last seen: a seat's slots carry its newest epoch, or an older one where no frame of it is due yet.
  const words = rig.sampler.look();
  for (const [worker, epoch] of epochs) {
    const behind = rig.envsOf(worker).filter((env) => (words.epoch[env] as number) < epoch && (words.seq[env] as number) > 0);
    if (behind.length > 0) problems.push(`${behind.length} slots of worker ${worker} were not fenced to epoch ${epoch} (env ${behind[0]})`);
  }
  problems.push(...rig.overlaps());
  return {
    ok: problems.length === 0,
    evidence:
      problems.length === 0
        ? `epochs and frames never fell in ${rig.sampler.samples.length} looks; ${restarts} restarts, each under a higher epoch, none beside its predecessor`
        : problems.slice(0, 4).join('; '),
  };
}
