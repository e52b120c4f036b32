// The SSH half of the stand-in command provider: dialling with the official provider's retries, one command per session, and a copy by
// SFTP. What it copies from the official provider (v1.2.1) and what not is listed in docs/rig-tests.md.
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, posix } from 'node:path';
import { pipeline } from 'node:stream/promises';

const { Client, utils } = createRequire(import.meta.url)('ssh2');

const FIRST_DELAY_MS = 100;
const DELAY_FACTOR = 1.5;
const DELAY_MS_MAX = 5000;
const DIAL_ERRORS_DEFAULT = 10;
const DIAL_TIMEOUT_S_DEFAULT = 15;
/** A longer line stops the official provider's log reader while the session stays open: the command would hang for ever. */
const LINE_BYTES_MAX = 64 * 2 ** 10;

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function dialOnce(connection) {
  const client = new Client();
  const expected = connection.hostKey ? utils.parseKey(connection.hostKey) : undefined;
  if (expected instanceof Error) throw new Error(`connection.hostKey: ${expected.message}`);
  let mismatch = false;
  return new Promise((resolve, reject) => {
    client.on('ready', () => resolve(client));
    client.on('error', (error) => reject(mismatch ? new Error('ssh: handshake failed: ssh: host key mismatch') : error));
    client.connect({
      host: connection.host,
      port: connection.port ?? 22,
      username: connection.user ?? 'root',
      ...(connection.privateKey ? { privateKey: connection.privateKey, passphrase: connection.privateKeyPassword } : {}),
      ...(connection.password ? { password: connection.password } : {}),
      ...(connection.agentSocketPath ? { agent: connection.agentSocketPath } : {}),
      readyTimeout: (connection.perDialTimeout ?? DIAL_TIMEOUT_S_DEFAULT) * 1000,
      // Offer only the pinned key's type, as the official client does.
      ...(expected ? { algorithms: { serverHostKey: [expected.type] } } : {}),
      hostVerifier: (key) => {
        mismatch = expected !== undefined && !key.equals(expected.getPublicSSH());
        return !mismatch;
      },
    });
  });
}

/** Dials until it works, `dialErrorLimit` errors are reached (-1: never), or `signal` aborts; a wrong host key counts like any error. */
export async function dial(connection, signal) {
  const limit = connection.dialErrorLimit ?? DIAL_ERRORS_DEFAULT;
  for (let errors = 1, delayMs = FIRST_DELAY_MS; ; errors++, delayMs = Math.min(delayMs * DELAY_FACTOR, DELAY_MS_MAX)) {
    try {
      return await dialOnce(connection);
    } catch (error) {
      if (signal.aborted) throw new Error(`${signal.reason.message}; after ${errors} failed attempts: dial: ${error.message}`);
      if (limit >= 0 && errors >= limit) throw new Error(`after ${errors} failed attempts: dial: ${error.message}`);
      await pause(delayMs, signal);
    }
  }
}

/** Runs one command in the login shell. A session that closes without an exit status is an error; the remote command goes on then. */
export function runCommand(client, command, stdin, onLine) {
  return new Promise((resolve, reject) => {
    client.on('error', reject);
    client.on('close', () => reject(new Error('wait: remote command exited without exit status or exit signal')));
    client.exec(command, (error, stream) => {
      if (error) return reject(error);
      const result = { stdout: '', stderr: '', code: undefined, signal: undefined };
      const collect = (name) => {
        let line = '';
        return (bytes) => {
          const text = bytes.toString('utf8');
          result[name] += text;
          const lines = (line + text).split('\n');
          line = lines.pop();
          for (const whole of lines) onLine?.(whole, name);
          if (Math.max(line.length, ...lines.map((whole) => whole.length)) > LINE_BYTES_MAX) {
            reject(new Error(`the command printed a line over ${LINE_BYTES_MAX} bytes: the official provider would hang here`));
          }
        };
      };
      stream.on('data', collect('stdout'));
      stream.stderr.on('data', collect('stderr'));
      stream.on('exit', (code, signal) => Object.assign(result, { code, signal }));
      stream.on('close', () => {
        if (result.code === undefined) reject(new Error('wait: remote command exited without exit status or exit signal'));
        else resolve(result);
      });
      stream.end(stdin ?? '');
    });
  });
}

function openSftp(client) {
  return new Promise((resolve, reject) => client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp))));
}

const isRemoteFolder = (sftp, path) => new Promise((resolve) => sftp.stat(path, (error, stats) => resolve(!error && stats.isDirectory())));

async function makeFolder(sftp, path) {
  if (path === '' || path === '/' || path === '.' || (await isRemoteFolder(sftp, path))) return;
  await makeFolder(sftp, posix.dirname(path));
  await new Promise((resolve, reject) =>
    sftp.mkdir(path, async (error) =>
      error && !(await isRemoteFolder(sftp, path)) ? reject(new Error(`mkdir ${path}: ${error.message}`)) : resolve(),
    ),
  );
}

async function copyInto(sftp, source, target) {
  if (statSync(source).isDirectory()) {
    await makeFolder(sftp, target);
    for (const name of readdirSync(source).sort()) await copyInto(sftp, join(source, name), posix.join(target, name));
    return;
  }
  await pipeline(createReadStream(source), sftp.createWriteStream(target));
}

/** scp's rule for folders: `a/` copies what is in it; `a` copies the folder itself when the target is there already. */
export async function copyPath(client, source, remotePath) {
  const sftp = await openSftp(client);
  await makeFolder(sftp, posix.dirname(remotePath));
  const nested = !source.endsWith('/') && (await isRemoteFolder(sftp, remotePath));
  await copyInto(sftp, source, nested ? posix.join(remotePath, basename(source)) : remotePath);
}

export async function copyText(client, text, remotePath) {
  const sftp = await openSftp(client);
  await makeFolder(sftp, posix.dirname(remotePath));
  const target = (await isRemoteFolder(sftp, remotePath)) ? posix.join(remotePath, 'asset') : remotePath;
  await new Promise((resolve, reject) => sftp.writeFile(target, text, (error) => (error ? reject(error) : resolve())));
}
