// `npm run bench -- --peers`: measures the chosen rows for envladder and the chosen peers and prints one table, or JSON. A peer that is
// missing, cannot do a row or fails in it is a dash with its reason; only envladder's own failure makes the exit code one.
import { readFileSync } from 'node:fs';
import { EXIT, type ExitCode } from '../../contract/exit-codes.js';
import type { LoadMonitor } from '../cpu-load.js';
import { readMachineFacts } from '../machine-facts.js';
import { type FoundVenv, findVenv } from './make-venv.js';
import { measureFaults } from './measure-faults.js';
import { measureLearning } from './measure-learning.js';
import { measureStarts, memoryRow } from './measure-starts.js';
import { measureWindows } from './measure-windows.js';
import { chooseRows, PEERS_USAGE, type PeerArguments } from './peer-arguments.js';
import type { PeerContext } from './peer-context.js';
import { type PeerReport, type RowResult, rowResult } from './peer-result.js';
import { type PeerRow, peerRows } from './peer-rows.js';
import type { Room } from './peer-systems.js';
import { renderPeers } from './peer-table.js';
import type { VenvName } from './peer-venvs.js';

/** What a peer with a process per env would have to fit into. */
function readRoom(): Room {
  const memory = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
  const files = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return { freeBytes: Number(memory ?? 0) * 1024, fdLimit: Number(files ?? 1024) };
}

/** Every environment is looked up (and made) once a run. */
function createVenvs(say: (line: string) => void): (name: VenvName) => FoundVenv {
  const found = new Map<VenvName, FoundVenv>();
  return (name) => {
    const known = found.get(name) ?? findVenv(name, say);
    found.set(name, known);
    return known;
  };
}

/** Rows narrowed to envladder and the chosen peers. */
function ofPeers(rows: readonly PeerRow[], peers: PeerArguments['peers']): PeerRow[] {
  return rows.map((row) => ({
    ...row,
    contenders: row.contenders.filter(({ peer }) => peer === 'envladder' || peers.includes(peer)),
  }));
}

async function measure(context: PeerContext, row: PeerRow): Promise<RowResult[]> {
  // Made before anything is timed.
  for (const { venv, no } of row.contenders) if (venv !== null && no === null) context.venvOf(venv);
  switch (row.measure) {
    case 'windows':
      return [rowResult(row, await measureWindows(context, row))];
    case 'learn':
      return [rowResult(row, await measureLearning(context, row))];
    case 'fault':
      return [rowResult(row, await measureFaults(context, row))];
    case 'start': {
      const entries = await measureStarts(context, row);
      const memory = memoryRow(row, entries);
      return [rowResult(row, entries), rowResult(memory.row, memory.entries)];
    }
  }
}

/** Runs what was asked for; stdout gets the table or the JSON. */
export async function runPeers(wanted: PeerArguments, load: LoadMonitor, say: (line: string) => void): Promise<ExitCode> {
  if (wanted.help) {
    process.stdout.write(`${PEERS_USAGE}\n`);
    return EXIT.good;
  }
  const rows = ofPeers(chooseRows(peerRows(readRoom()), wanted.only), wanted.peers);
  if (wanted.list) {
    for (const { name, title } of rows) process.stdout.write(`${name.padEnd(16)}${title}\n`);
    return EXIT.good;
  }
  const patienceMs = wanted.quick ? 0 : wanted.patienceS * 1000;
  const { quick, seed } = wanted;
  const context: PeerContext = { quick, load, patienceMs, retake: patienceMs > 0, say, venvOf: createVenvs(say), seed };
  // Exit hooks end the drivers, which stand outside this process group.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(EXIT.interrupted));
  const results: RowResult[] = [];
  for (const row of rows) results.push(...(await measure(context, row)));
  const report: PeerReport = { machine: readMachineFacts(), taken: new Date().toISOString(), quick: wanted.quick, rows: results };
  process.stdout.write(wanted.json ? `${JSON.stringify(report, null, 2)}\n` : `${renderPeers(report)}\n`);
  const failures = results.flatMap(({ entries }) => entries).filter(({ peer, failed }) => peer === 'envladder' && failed);
  return failures.length === 0 ? EXIT.good : EXIT.bug;
}
