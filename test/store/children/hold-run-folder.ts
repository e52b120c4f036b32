// Opens a run folder like a supervisor, optionally writes its record, says so, and then lives until it is killed.
import { readFileSync } from 'node:fs';
import { openRunFolder } from '../../../harness/store/run-folder.js';
import { writeRunRecord } from '../../../harness/store/run-record-file.js';
import { openRunWriter } from '../../../harness/store/threaded-run-writer.js';

const [dir = '', recordPath = ''] = process.argv.slice(2);

async function hold(): Promise<void> {
  const folder = await openRunFolder(dir);
  const writer = openRunWriter(folder.dir);
  for (let i = 0; i < 500; i++)
    writer.event({ type: 'env-created', at: '2026-11-30T04:55:12.000Z', runMs: i, envId: i, message: `env ${i}` });
  writer.metric({
    t_s: 7.25,
    tier: 0,
    envs_live: 1,
    published: 1,
    trained: 1,
    sampling_sps: 1,
    training_sps: 1,
    batch_fill: 1,
    restarts: 0,
    quarantined: 0,
    updates: 0,
    memory_bytes: {},
    kinds: {},
    losses: {},
  });
  await writer.flush();
  if (recordPath !== '') {
    const record = JSON.parse(readFileSync(recordPath, 'utf8'));
    const { pid, start_ticks, boot_id } = folder.owner;
    await writeRunRecord(folder.dir, {
      ...record,
      run: { ...record.run, state: 'running', ended_at: null, seconds: 3, supervisor: { pid, start_ticks, boot_id } },
    });
  }
  // Never flushed: may be lost with the process.
  writer.event({ type: 'warning', at: '', runMs: 501, message: 'unflushed' });
  console.log('holding');
  setInterval(() => undefined, 60_000);
}

void hold().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 2;
});
