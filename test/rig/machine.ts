// One test machine, started from a snapshot: the face of vm.sh for the rig tests. Machines live in the work folder of the run, so that the
// runner can end what a killed test left behind.
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Finished, runOrThrow, runProcess } from './run-process.js';

const SCRIPT = join(import.meta.dirname, 'vm.sh');

export interface Machine {
  readonly folder: string;
  readonly port: number;
  /** `ssh-ed25519 ...` */
  readonly hostKey: string;
  readonly privateKey: string;
  /** Runs as root and returns what was printed; throws when it fails. */
  sh(command: string): Promise<string>;
  trySh(command: string, user?: 'root' | 'rig' | 'plain'): Promise<Finished>;
  /** Puts a file of this computer on the machine, readable by everybody. */
  put(file: string, path: string): Promise<void>;
  /** Writes RAM and disk into one file. The machine is gone then. */
  save(snapshot: string): Promise<void>;
  stop(): Promise<void>;
}

export function workFolder(): string {
  const folder = process.env['RIG_TEST_WORK'];
  if (!folder) throw new Error('rig tests are started by npm run test:rig');
  return folder;
}

export const imageFolder = (): string => process.env['RIG_TEST_IMAGE'] ?? '';
export const freshSnapshot = (): string => join(imageFolder(), 'fresh.qcow2');

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
}

/** The port of the run's machine. It stays the same all the time: a stack knows its host by it, and a machine is resumed many times. */
async function usualPort(): Promise<number> {
  const file = join(workFolder(), 'port');
  if (!existsSync(file)) writeFileSync(file, String(await freePort()));
  return Number(readFileSync(file, 'utf8'));
}

/** Starts a machine from a snapshot: 5 seconds on a quiet computer. One at a time, except `another`, which has a port of its own. */
export async function resumeMachine(snapshot = freshSnapshot(), another = false): Promise<Machine> {
  const folder = mkdtempSync(join(workFolder(), 'vm-'));
  const port = another ? await freePort() : await usualPort();
  const env = { ...process.env, PORT: String(port) };
  await runOrThrow('bash', [SCRIPT, 'resume', imageFolder(), snapshot, folder], { env, timeoutMs: 300_000 });
  const trySh: Machine['trySh'] = (command, user = 'root') => runProcess('bash', [SCRIPT, 'ssh', folder, user, command], { env });
  return {
    folder,
    port,
    hostKey: readFileSync(join(folder, 'host_key.pub'), 'utf8').trim(),
    privateKey: readFileSync(join(folder, 'id'), 'utf8'),
    trySh,
    sh: async (command) => {
      const { code, signal, stdout, stderr } = await trySh(command);
      if (code !== 0) throw new Error(`on the host, ended with ${signal ?? code}: ${command}\n${stdout}${stderr}`);
      return stdout.trimEnd();
    },
    put: async (file, path) => {
      const command = `mkdir -p "$(dirname '${path}')" && cat > '${path}' && chmod 644 '${path}'`;
      const { code, stderr } = await runProcess('bash', [SCRIPT, 'ssh', folder, 'root', command], { env, input: readFileSync(file) });
      if (code !== 0) throw new Error(`${file} could not be put at ${path}: ${stderr}`);
    },
    save: async (target) => void (await runOrThrow('bash', [SCRIPT, 'save', folder, target], { env, timeoutMs: 300_000 })),
    stop: async () => {
      if (existsSync(folder)) await runOrThrow('bash', [SCRIPT, 'stop', folder], { env });
    },
  };
}
