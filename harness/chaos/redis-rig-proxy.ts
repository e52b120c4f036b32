// What lies between a rig and its Redis when the way is to be at fault: passes bytes from one unix socket to another, late, or swallows them
// while the connections stay open, as a network does that drops packets.
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';

export interface SlowLink {
  /** One way. */
  readonly delayMs: number;
  /** Share of the sends that come one retransmission later: TCP hides a lost packet, it shows as time. */
  readonly lateShare: number;
  readonly random: () => number;
}

export interface RigProxy {
  /** From now on; null: as fast as it goes. */
  slow(link: SlowLink | null): void;
  /** Connections that exist now never carry a byte again, and neither end learns of it; new ones are served. */
  swallowOld(): void;
  close(): Promise<void>;
}

/** Longest wait of TCP before it sends a lost packet again on a short way, at least: Linux's TCP_RTO_MIN. */
const RETRANSMIT_MS = 200;

interface Pair {
  muted: boolean;
  readonly ends: readonly [Socket, Socket];
}

export async function startRigProxy(path: string, to: string): Promise<RigProxy> {
  let link: SlowLink | null = null;
  const pairs = new Set<Pair>();
  const server = createServer((near) => {
    const far = createConnection(to);
    const pair: Pair = { muted: false, ends: [near, far] };
    pairs.add(pair);
    carry(pair, near, far);
    carry(pair, far, near);
  });
  function carry(pair: Pair, from: Socket, into: Socket): void {
    let freeAtMs = 0;
    const waiting: Buffer[] = [];
    from.on('data', (bytes: Buffer) => {
      // Each turn sends the oldest: bytes never overtake each other.
      waiting.push(bytes);
      const pass = (): void => {
        const oldest = waiting.shift() as Buffer;
        if (!pair.muted && into.writable) into.write(oldest);
      };
      if (link === null && waiting.length === 1) return pass();
      const { delayMs, lateShare, random } = link ?? { delayMs: 0, lateShare: 0, random: () => 1 };
      const late = random() < lateShare ? RETRANSMIT_MS + 2 * delayMs : 0;
      freeAtMs = Math.max(freeAtMs, performance.now() + delayMs + late);
      setTimeout(pass, freeAtMs - performance.now());
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      if (pair.muted) return;
      into.destroy();
      pairs.delete(pair);
    });
  }
  server.listen(path);
  await once(server, 'listening');
  return {
    slow: (to) => {
      link = to;
    },
    swallowOld() {
      for (const pair of pairs) pair.muted = true;
    },
    async close() {
      for (const { ends } of pairs) for (const end of ends) end.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
