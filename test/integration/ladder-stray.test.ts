// Goal: what happens to a machine and means nothing for a run: its wall clock is set, a stray SIGUSR1 comes. Neither kills, restarts or
// reorders anything, and no debugger listens.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { eventsOf, markedPids, type Running, startCli } from '../cli/run-cli.js';

const CLOCK = pathToFileURL(resolve(import.meta.dirname, '..', 'fixtures', 'jumping-clock.mjs')).href;
const HOUR_MS = 3_600_000;
const PLAN = 'tiers: [20]\nseconds: 600\nworkers: 2\nlearner: random\nmix: { cartpole: 1 }\n';

let root = '';
before(() => {
  root = mkdtempSync(join(tmpdir(), 'envladder-stray-'));
  writeFileSync(join(root, 'plan.yaml'), PLAN);
});
after(() => rmSync(root, { recursive: true, force: true }));

interface Line {
  readonly t_s: number;
}

function metricsOf(dir: string): Line[] {
  try {
    const lines = readFileSync(join(dir, 'metrics.ndjson'), 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Line);
  } catch {
    return [];
  }
}

async function moreMetrics(run: Running, dir: string): Promise<void> {
  const lines = metricsOf(dir).length;
  await run.until('two more lines of metrics', () => metricsOf(dir).length >= lines + 2);
}

/** Ends it as Ctrl-C does; what is told until then is all there is to tell. */
async function finish(run: Running, dir: string): Promise<{ state: string; started_at: string; ended_at: string; seconds: number }> {
  run.child.kill('SIGTERM');
  const { code, stderr } = await run.ended;
  assert.equal(code, 130, stderr);
  const bad = eventsOf(dir).filter(({ type }) => /died|failed|suspect|suspended|restarted|lost/.test(type));
  assert.deepEqual(bad, []);
  return (JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as { run: Awaited<ReturnType<typeof finish>> }).run;
}

describe('a ladder', { timeout: 120_000 }, () => {
  it('is not moved by a wall clock that jumps an hour forth and two back', async () => {
    // Goal: nothing is judged, ordered or measured by the wall clock; the stamps in its record show that it did jump.
    const dir = join(root, 'clock');
    const shift = join(root, 'shift');
    writeFileSync(shift, '0');
    const run = startCli(['ladder', '--plan', join(root, 'plan.yaml'), '--out', dir], {
      env: { NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_SHIFT_FILE: shift },
    });
    await run.until('envs are live', () => /envs live/.test(run.stderrSoFar()));
    for (const ms of [HOUR_MS, -HOUR_MS]) {
      writeFileSync(shift, String(ms));
      await moreMetrics(run, dir);
    }
    const { started_at, ended_at, seconds } = await finish(run, dir);
    assert.ok(Date.parse(ended_at) < Date.parse(started_at), `the clock did not jump: ${started_at}, ${ended_at}`);
    assert.ok(seconds > 0 && seconds < 110, `${seconds} s by the monotonic clock`);
    const times = metricsOf(dir).map(({ t_s }) => t_s);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    const types = eventsOf(dir).map(({ type }) => type);
    assert.ok(types.indexOf('worker-started') < types.indexOf('worker-stopped') || !types.includes('worker-stopped'), types.join(' '));
  });

  it('does not mind SIGUSR1 in any of its processes', async () => {
    // Goal: Node would open its inspector, a debugger that listens on a port.
    const dir = join(root, 'signal');
    const run = startCli(['ladder', '--plan', join(root, 'plan.yaml'), '--out', dir]);
    await run.until('envs are live', () => /envs live/.test(run.stderrSoFar()));
    const pids = markedPids(run.mark);
    assert.ok(pids.includes(run.pid) && pids.length >= 4, 'supervisor, learner and two workers');
    for (const pid of pids) process.kill(pid, 'SIGUSR1');
    await moreMetrics(run, dir);
    assert.deepEqual(pids.flatMap(portsOf), []);
    assert.doesNotMatch(run.stderrSoFar(), /Debugger listening/);
    await finish(run, dir);
  });
});

/** Ports a process listens on, from /proc. */
function portsOf(pid: number): string[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? ''];
      } catch {
        return [];
      }
    }),
  );
  return ['tcp', 'tcp6'].flatMap((name) =>
    readFileSync(`/proc/net/${name}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A' && sockets.has(fields[9] ?? 'none'))
      .map((fields) => `${pid} listens on ${fields[1]}`),
  );
}
