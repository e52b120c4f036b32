// Brings a run folder from the host: one tar stream, unpacked beside its final place, every file compared with the host's SHA-256, then renamed.
// What is there under its name already is the same run and is replaced whole. Sockets and lock files of a run that is over stay behind.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EnvladderError } from '../harness/contract/errors.js';
import { shellQuote } from './quote.js';
import type { SshSession } from './ssh-session.js';

/** Where ladders of the rig leave their runs (infra/scripts/ladder-run.sh). */
export const HOST_RUNS = '/var/lib/envladder/runs';

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function failed(run: string, why: string, cause?: unknown): EnvladderError {
  return new EnvladderError(
    'run-folder',
    `run ${run} could not be fetched: ${why}; it is still on the host: npm run rig:ladder -- --fetch ${run}`,
    { cause },
  );
}

/** Streams the folder's files into `into`. */
async function unpackStream(session: SshSession, sudo: string, from: string, run: string, into: string): Promise<void> {
  const tar = spawn('tar', ['-xzf', '-', '--no-same-owner', '-C', into], { stdio: ['pipe', 'ignore', 'pipe'] });
  let said = '';
  tar.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-500);
  });
  tar.stdin.on('error', () => undefined); // its exit code says why
  const unpacked = new Promise<number | null>((resolve) => tar.on('close', resolve).on('error', () => resolve(null)));
  const command = `${sudo}tar -C ${shellQuote(from)} --exclude=*.sock --exclude=*.lock -czf - .`;
  const sent = await session.run(command, { onStdout: (chunk) => tar.stdin.write(chunk) });
  tar.stdin.end();
  const code = await unpacked;
  if (sent.lost) throw failed(run, 'the connection was lost');
  if (sent.code !== 0) throw failed(run, `the host's tar ended with ${sent.code}: ${sent.stderr.trim().split('\n').at(-1)}`);
  if (code !== 0) throw failed(run, `tar here ended with ${code}: ${said.trim()}`);
}

/** False for a ladder that was refused before it made its folder. */
export async function hasRun(session: SshSession, sudo: string, run: string, hostRuns = HOST_RUNS): Promise<boolean> {
  return (await session.run(`${sudo}test -d ${shellQuote(join(hostRuns, run))}`)).code === 0;
}

/** Fetches `run` (a name under the host's runs) to `outDir`/`run` and returns that folder. Throws `run-folder`; the host's copy is left alone. */
export async function fetchRun(session: SshSession, sudo: string, run: string, outDir: string, hostRuns = HOST_RUNS): Promise<string> {
  const from = join(hostRuns, run);
  const target = join(outDir, run);
  mkdirSync(dirname(target), { recursive: true });
  const partial = mkdtempSync(join(outDir, `.${run}-`));
  try {
    await unpackStream(session, sudo, from, run, partial);
    const list = await session.run(
      `${sudo}bash -c ${shellQuote(`cd ${shellQuote(from)} && find . -type f ! -name "*.sock" ! -name "*.lock" -exec sha256sum {} +`)}`,
    );
    if (list.code !== 0) throw failed(run, `the host could not list it: ${list.stderr.trim()}`);
    for (const line of list.stdout
      .trim()
      .split('\n')
      .filter((each) => each !== '')) {
      const [sum, file] = [line.slice(0, 64), line.slice(66)];
      const found = await sha256Of(join(partial, file)).catch(() => 'missing');
      if (found !== sum) throw failed(run, `${file} came over differently`);
    }
    rmSync(target, { recursive: true, force: true });
    renameSync(partial, target);
    return target;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
