// Loads the compiled addon and gives it types. Works from the sources and from dist/: the binary is looked for upwards from this file.
// Everything here is internal to harness/memory and to process supervision; nothing of it validates its arguments.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A mapped range of a shared object. */
export interface NativeMapping {
  /** The mapping as an ArrayBuffer; may be called once. */
  takeBuffer(): ArrayBuffer;
}

export interface NativeBell {
  ring(): void;
  /** True when the bell rang since the last wait of this object; sleeps up to `timeoutMs` otherwise. */
  wait(timeoutMs: number): boolean;
}

export interface NativeBlock {
  scan(): { published: number; taken: number; live: number; quarantined: number };
  fence(epoch: number): boolean;
  /** Seq of the copied frame; 0 when there is none or every try was torn. */
  peek(slot: number, plane: number, into: Uint8Array, tries: number): number;
  seq(slot: number): number;
  /** Fences `old` to `epoch`, then takes its words and newest frames; false when a slot of it belongs to a newer epoch already. */
  takeOver(old: NativeBlock, epoch: number): boolean;
}

/** A thread of its own that stamps a word. Ends with `stop`, or with the environment that made it. */
export interface NativeBeat {
  stop(): void;
}

export const SCHEDULING_POLICIES = ['other', 'fifo', 'rr', 'batch', 'idle'] as const;
export type SchedulingPolicy = (typeof SCHEDULING_POLICIES)[number];

export interface WordDuel {
  reads: number;
  torn: number;
  /** Loads whose value differs from the one before. */
  changes: number;
  /** Of both threads. */
  adds: number;
  addSeconds: number;
}

export const ROUND_TRIP_WAYS = ['tcp', 'unix', 'pipe', 'futex', 'spin'] as const;
export type RoundTripWay = (typeof ROUND_TRIP_WAYS)[number];

export interface NativeWriter {
  activate(slot: number): void;
  claim(limit: number): number;
  defer(slot: number, rounds: number): void;
  publish(check: number): number;
  quarantine(slot: number): number;
  park(slot: number): void;
  unpark(slot: number): void;
  release(slot: number): void;
  keepFinal(slot: number): void;
  wasAbandoned(slot: number): boolean;
  breaches(): number[];
  fenced(): boolean;
}

export interface NativeReader {
  add(block: NativeBlock, bell: NativeBell, planeOf: Uint32Array): number;
  drop(block: NativeBlock): number;
  /** False when `block` is not read. */
  replace(block: NativeBlock, by: NativeBlock, bell: NativeBell): boolean;
  /** False when there is no such row. */
  release(row: number): boolean;
  collect(limit: number): number;
  answer(count: number, rows: Int32Array, actions: Int32Array | Float32Array | null, actionBytes: number, command: number): number;
  stats(): { collected: number; torn: number; outOfOrder: number; bytesCopied: number };
  latency(): { valueUs: number[]; count: number[]; maxUs: number };
  response(): { valueUs: number[]; count: number[]; maxUs: number };
  lag(): { valueUs: number[]; count: number[]; maxUs: number };
  /** CLOCK_MONOTONIC; 0 = nothing is held. */
  nextDueMs(): number;
  resetLatency(): void;
}

export interface NativePart {
  output: number;
  /** 0 raw, 1 float, 2 pool */
  transform: number;
  scale: number;
  offset: number;
  byteOffset: number;
  bytes: number;
  height: number;
  width: number;
  channels: number;
}

export interface NativePlane {
  mapping: NativeMapping;
  finals: NativeMapping | null;
  dtype: number;
  elements: number;
}

export interface NativeAddon {
  Mapping: new (fd: number, offsetBytes: number, bytes: number) => NativeMapping;
  Bell: new (mapping: NativeMapping, offsetBytes: number) => NativeBell;
  Block: new (shape: Record<string, number>, control: NativeMapping, planes: NativePlane[]) => NativeBlock;
  Writer: new (
    block: NativeBlock,
    epoch: number,
    bounds: { low: Float64Array; high: Float64Array; needed: boolean }[],
    arrays: readonly [Uint32Array, Float64Array, Uint8Array, Int32Array, Int32Array, Int32Array],
  ) => NativeWriter;
  Reader: new (
    options: { batchLimit: number; threads: number; periodNs: number },
    parts: NativePart[],
    outputs: { rows: ArrayBufferView; finals: ArrayBufferView; rowBytes: number }[],
    arrays: readonly ArrayBufferView[],
  ) => NativeReader;
  Beat: new (mapping: NativeMapping, stampOffsetBytes: number, intervalMs: number) => NativeBeat;
  /** A sealed, sparse memory object; the fd is close-on-exec. */
  createObject(name: string, bytes: number): number;
  /** Backs a range with pages. 0, or the errno that says why there are none. */
  allocateRange(fd: number, offsetBytes: number, bytes: number, threads: number): number;
  /** CLOCK_MONOTONIC, comparable between processes. */
  monotonicNs(): number;
  /** Asks for `signal` when the parent dies; false when `parentPid` is already gone. Main thread only. */
  dieWithParent(signal: number, parentPid: number): boolean;
  /** 1: the kernel says that the process has ended; 0: alive after `timeoutMs`; negative errno: unknown. */
  confirmDeath(pid: number, timeoutMs: number): number;
  /** The scheduling calls take every thread of `pid`, return 0 or a negative errno; the getters look at its first thread. */
  setAffinity(pid: number, cpus: readonly number[]): number;
  getAffinity(pid: number): number[] | number;
  setNice(pid: number, nice: number): number;
  getNice(pid: number): { nice: number } | number;
  setScheduler(pid: number, policy: SchedulingPolicy, priority: number): number;
  getScheduler(pid: number): { policy: SchedulingPolicy | 'unknown'; priority: number } | number;
  /** Bench only: the bare copy loop. */
  memcpyRows(to: ArrayBufferView, from: ArrayBufferView, rowBytes: number, rows: number, strideBytes: number): void;
  /** Claims only: two threads over one 8-byte word of a page, then each adding to its flag; blocks the calling thread for twice `ms`. */
  duelOverWord(wordOffset: number, flagA: number, flagB: number, ms: number): WordDuel;
  /** Claims only: nanoseconds per round trip of one byte (or one ring) between two threads; blocks the calling thread. */
  timeRoundTrips(way: RoundTripWay, rounds: number): Float64Array;
  sharedOffsets(): Record<string, number>;
}

/** Thrown when the addon is not there; harness/memory turns it into an EnvladderError of the same code. */
export class NativeMissing extends Error {
  readonly code = 'native-missing';
}

let loaded: NativeAddon | undefined;

/** The addon, loaded on first use. Throws NativeMissing with the way to build it. */
export function loadNative(): NativeAddon {
  loaded ??= loadFrom(dirname(fileURLToPath(import.meta.url)));
  return loaded;
}

function loadFrom(start: string): NativeAddon {
  for (let folder = start; ; folder = dirname(folder)) {
    const file = join(folder, 'native', 'build', 'envladder.node');
    if (existsSync(file)) {
      try {
        return createRequire(import.meta.url)(file) as NativeAddon;
      } catch (cause) {
        throw new NativeMissing(
          `the native addon ${file} cannot be loaded (built for another machine or C library?). Rebuild it: node native/build.mjs`,
          { cause },
        );
      }
    }
    if (dirname(folder) === folder) {
      throw new NativeMissing(
        'the native addon is not built (native/build/envladder.node is missing). Build it: node native/build.mjs (needs g++ or clang++)',
      );
    }
  }
}
