// The open event streams. Nothing is queued for anyone: a viewer whose last frame still waits in its socket misses the next one, and is
// cut off when it has missed a few; it comes back by itself with its Last-Event-ID and gets what it lacks. So a viewer costs at most one
// frame of memory, and there are at most MAX_VIEWERS.
import type { ServerResponse } from 'node:http';

export const MAX_VIEWERS = 16;
/** Frames missed in a row before a viewer is cut off. */
const MAX_MISSED = 5;
/** Milliseconds after which a browser comes back. */
const RETRY_MS = 2000;

export interface Viewer {
  /** What the viewer has: id of its newest frame. */
  lastId: string;
}

/** What the viewer lacks, as JSON; null = nothing to tell. */
export type FrameFor = (viewer: Viewer) => string | null;

export interface Viewers {
  readonly count: number;
  /** Opens a stream and sends its first frame. False: too many; the response is untouched. */
  add(response: ServerResponse, lastId: string, frameFor: FrameFor, id: string): boolean;
  /** Sends what `frameFor` makes for each viewer that can take it, under `id`; null sends a heartbeat. */
  send(frameFor: FrameFor, id: string): void;
  /** Says goodbye and closes every stream. */
  close(): void;
}

interface Seat extends Viewer {
  readonly response: ServerResponse;
  missed: number;
}

export function createViewers(limit = MAX_VIEWERS): Viewers {
  const seats = new Set<Seat>();

  /** Whether the last frame has left this process. */
  const isFree = ({ response }: Seat): boolean => !response.writableNeedDrain && (response.socket?.writableLength ?? 0) === 0;

  function leave(seat: Seat): void {
    seats.delete(seat);
    seat.response.destroy();
  }

  function write(seat: Seat, frameFor: FrameFor, id: string): void {
    const frame = frameFor(seat);
    seat.response.write(frame === null ? ': nothing new\n\n' : `id: ${id}\nevent: frame\ndata: ${frame}\n\n`);
    if (frame !== null) seat.lastId = id;
  }

  return {
    get count() {
      return seats.size;
    },
    add(response, lastId, frameFor, id) {
      if (seats.size >= limit) return false;
      const seat: Seat = { response, lastId, missed: 0 };
      seats.add(seat);
      response.on('close', () => seats.delete(seat));
      response.on('error', () => leave(seat));
      response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', Connection: 'close', 'X-Accel-Buffering': 'no' });
      response.write(`retry: ${RETRY_MS}\n\n`);
      write(seat, frameFor, id);
      return true;
    },
    send(frameFor, id) {
      for (const seat of [...seats]) {
        if (!isFree(seat)) {
          if (++seat.missed >= MAX_MISSED) leave(seat);
          continue;
        }
        seat.missed = 0;
        write(seat, frameFor, id);
      }
    },
    close() {
      for (const { response } of seats) response.end('event: end\ndata: {}\n\n');
      seats.clear();
    },
  };
}
