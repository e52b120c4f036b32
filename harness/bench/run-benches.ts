// Runs the chosen benches one after the other and prints a table, or with --json exactly {machine, results}. A missed bar is a finding,
// not a failure: the exit code is 0 unless a bench could not run to its end.
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { ALL_BENCHES } from './all-benches.js';
import type { Bench, BenchContext, Row } from './bench.js';
import { skippedRow } from './bench.js';
import { chooseBenches, parseBenchArguments, USAGE } from './bench-arguments.js';
import { toReport } from './bench-json.js';
import { renderTable } from './bench-table.js';
import { createLoadMonitor } from './cpu-load.js';
import { readMachineFacts } from './machine-facts.js';
import { asksForPeers, parsePeerArguments } from './peers/peer-arguments.js';
import { runPeers } from './peers/run-peers.js';

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Rows of one bench; a bench that throws keeps its rows in the result, without values. */
async function runBench(bench: Bench, context: BenchContext): Promise<{ rows: readonly Row[]; failed: boolean }> {
  try {
    return { rows: await bench.run(context), failed: false };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    say(`${bench.rows[0] ?? 'bench'} failed: ${error instanceof Error ? (error.stack ?? message) : message}`);
    return { rows: bench.rows.map((name) => skippedRow(name, `failed: ${message.split('\n', 1)[0] ?? ''}`)), failed: true };
  }
}

/** Runs what the arguments ask for; stdout gets the result, stderr the progress. Throws `bad-usage`. */
export async function runBenches(argv: readonly string[]): Promise<ExitCode> {
  if (asksForPeers(argv)) return runPeers(parsePeerArguments(argv), createLoadMonitor(), say);
  const wanted = parseBenchArguments(argv);
  if (wanted.help) {
    process.stdout.write(`${USAGE}\n`);
    return EXIT.good;
  }
  const benches = chooseBenches(ALL_BENCHES, wanted);
  if (wanted.list) {
    for (const bench of benches) process.stdout.write(`${bench.suite.padEnd(10)}${bench.rows.join(' ')}\n`);
    return EXIT.good;
  }
  const context: BenchContext = {
    quick: wanted.quick,
    load: createLoadMonitor(),
    patienceMs: wanted.quick ? 0 : wanted.patienceS * 1000,
    say,
  };
  const rows: Row[] = [];
  let failures = 0;
  for (const bench of benches) {
    const result = await runBench(bench, context);
    rows.push(...result.rows);
    if (result.failed) failures++;
  }
  const machine = readMachineFacts();
  process.stdout.write(wanted.json ? `${JSON.stringify(toReport(machine, rows), null, 2)}\n` : `${renderTable(machine, rows)}\n`);
  return failures === 0 ? EXIT.good : EXIT.bug;
}
