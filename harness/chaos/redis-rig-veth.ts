// A network of two ends between this machine and a redis-server in a network namespace of its own, to be made slow and lossy by the kernel
// (netem) without touching any other connection. It goes with the namespace, and that goes with the server.
import { execFileSync } from 'node:child_process';
import { commandProblem } from './machine-needs.js';

/** Link-local addresses (RFC 3927), out of the range that routers use. */
const NET = '169.254.77';
const PORT = 6379;
export const VETH_URL = `redis://${NET}.2:${PORT}`;
export const VETH_SERVER = { through: ['unshare', '-n'], port: PORT } as const;

/** Why this machine cannot have one; null: it can. */
export function vethProblem(): string | null {
  return (
    commandProblem('unshare', ['-n', 'tc', 'qdisc', 'add', 'dev', 'lo', 'root', 'netem', 'delay', '1ms']) ??
    commandProblem('unshare', ['-n', 'ip', 'link', 'add', 'a', 'type', 'veth', 'peer', 'name', 'b'])
  );
}

export interface Veth {
  /** Both ways: `delayMs` each. */
  slow(delayMs: number, lossPercent: number): void;
  close(): void;
}

/** `pid`: the server, in its namespace. Throws what `ip` says. */
export function layVeth(pid: number): Veth {
  const near = `evl${process.pid}`;
  const here = (...args: readonly string[]): void => void execFileSync(args[0] as string, args.slice(1), { stdio: 'pipe', timeout: 5000 });
  const there = (...args: readonly string[]): void => here('nsenter', '-t', String(pid), '-n', ...args);
  here('ip', 'link', 'add', near, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid));
  here('ip', 'addr', 'add', `${NET}.1/30`, 'dev', near);
  here('ip', 'link', 'set', near, 'up');
  there('ip', 'addr', 'add', `${NET}.2/30`, 'dev', 'eth0');
  there('ip', 'link', 'set', 'eth0', 'up');
  return {
    slow(delayMs, lossPercent) {
      const netem = ['root', 'netem', 'delay', `${delayMs}ms`, 'loss', `${lossPercent}%`];
      here('tc', 'qdisc', 'add', 'dev', near, ...netem);
      there('tc', 'qdisc', 'add', 'dev', 'eth0', ...netem);
    },
    close: () => here('ip', 'link', 'del', near),
  };
}
