// A small network of the claim's own: a server and clients, each in a network namespace of its own, and a router between them that can forget
// a connection, as address translation does: what comes on it is dropped without a word. Nothing of this machine's network is touched.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commandProblem } from '../../chaos/machine-needs.js';
import { entryUrl, execArgvFor } from '../../supervisor/spawn.js';

const START_MS = 10_000;
const COMMAND_MS = 10_000;
const NET = '10.111';
export const SERVER_ADDRESS = `${NET}.0.2`;

/** A process that holds a network namespace open until our stdin to it ends. */
interface Namespace {
  readonly pid: number;
  close(): Promise<void>;
}

async function openNamespace(): Promise<Namespace> {
  const holder = spawn('unshare', ['-n', 'sh', '-c', 'ip link set lo up && echo ready && read -r _'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const exited = new Promise<void>((done) => holder.once('close', () => done()));
  const ready = await Promise.race([
    once(holder.stdout, 'data', { signal: AbortSignal.timeout(START_MS) }).then(() => true),
    exited.then(() => false),
  ]).catch(() => false);
  if (!ready || holder.pid === undefined) {
    holder.kill('SIGKILL');
    throw new Error('no network namespace could be made');
  }
  return {
    pid: holder.pid,
    async close() {
      holder.stdin.end();
      await exited;
    },
  };
}

/** Why there can be none here, or null. */
export function netWorldProblem(): string | null {
  return (
    commandProblem('ip', ['-V']) ??
    commandProblem('unshare', ['-n', 'ip', 'link', 'add', 'name', 'va', 'type', 'veth', 'peer', 'name', 'vb']) ??
    commandProblem('unshare', ['-n', 'ip', 'rule', 'add', 'iif', 'lo', 'ipproto', 'tcp', 'sport', '5', 'blackhole']) ??
    commandProblem('nsenter', ['--version'])
  );
}

export interface NetWorld {
  /** Command in front of a program that then runs at the server's end. */
  readonly atServer: readonly string[];
  /** Starts an entry of ours at a client's end, or (client: null) at the server's, with an IPC channel, in a session of its own. */
  fork(entry: string, client: number | null): ChildProcess;
  /** Packets that the router has seen on a client's link, both ways. */
  packets(client: number): number;
  /** From now on the router drops what belongs to this connection of a client, both ways. */
  forget(client: number, port: number): void;
  close(): Promise<void>;
}

const mac = (net: number, end: number): string => `02:00:00:00:${net.toString(16).padStart(2, '0')}:0${end}`;

export async function openNetWorld(clients: number): Promise<NetWorld> {
  const spaces: Namespace[] = [];
  const close = async (): Promise<void> => {
    for (const space of spaces.splice(0)) await space.close();
  };
  const into = ({ pid }: Namespace): string[] => ['-t', String(pid), '-n'];
  const at = (space: Namespace, ...words: readonly string[]): void => {
    execFileSync('nsenter', [...into(space), ...words], { stdio: 'pipe', timeout: COMMAND_MS });
  };
  /** Both ends of one wire; neighbours are told to each other, so that no packet is there but those of TCP. */
  function wire(router: Namespace, space: Namespace, net: number): void {
    const link = `r${net}`;
    for (const each of [router, space]) at(each, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6 2>/dev/null || true');
    const peer = ['peer', 'name', 'eth0', 'address', mac(net, 2), 'netns', String(space.pid)];
    at(router, 'ip', 'link', 'add', 'name', link, 'address', mac(net, 1), 'type', 'veth', ...peer);
    for (const [each, device, end] of [
      [router, link, 1],
      [space, 'eth0', 2],
    ] as const) {
      at(each, 'ip', 'addr', 'add', `${NET}.${net}.${end}/24`, 'dev', device);
      at(each, 'ip', 'link', 'set', device, 'up');
      at(each, 'ip', 'neigh', 'replace', `${NET}.${net}.${3 - end}`, 'lladdr', mac(net, 3 - end), 'dev', device, 'nud', 'permanent');
    }
    at(space, 'ip', 'route', 'add', 'default', 'via', `${NET}.${net}.1`);
  }
  try {
    for (let i = 0; i < clients + 2; i++) spaces.push(await openNamespace());
    const [router, server, ...ends] = spaces as [Namespace, Namespace, ...Namespace[]];
    at(router, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
    wire(router, server, 0);
    for (const [client, end] of ends.entries()) wire(router, end, client + 1);
    return {
      atServer: ['nsenter', ...into(server)],
      fork(entry, client) {
        const path = fileURLToPath(entryUrl(entry));
        const space = client === null ? server : (ends[client] as Namespace);
        const args = [...into(space), process.execPath, ...execArgvFor(path), path];
        return spawn('nsenter', args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], serialization: 'advanced', detached: true });
      },
      packets(client) {
        const line = new RegExp(`^\\s*r${client + 1}:(.*)$`, 'm').exec(readFileSync(`/proc/${router.pid}/net/dev`, 'utf8'))?.[1];
        const fields = (line ?? '').trim().split(/\s+/).map(Number);
        return (fields[1] ?? Number.NaN) + (fields[9] ?? Number.NaN);
      },
      forget(client, port) {
        const [there, back] = [`r${client + 1}`, 'r0'];
        at(router, 'ip', 'rule', 'add', 'iif', there, 'ipproto', 'tcp', 'sport', String(port), 'blackhole');
        at(router, 'ip', 'rule', 'add', 'iif', back, 'ipproto', 'tcp', 'dport', String(port), 'blackhole');
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
