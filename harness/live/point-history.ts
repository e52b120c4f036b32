// The curves of a run of any length in bounded memory: when the list is full every second point is dropped and new ones come half as
// often, so that a page opened on day five still sees day one. Pure.
import type { LivePoint } from './live-feed.js';

/** As many as a chart has pixels. Even: halving keeps the spacing. */
export const MAX_POINTS = 1200;

export interface PointHistory {
  add(point: Omit<LivePoint, 'id'>): void;
  /** Points after `id`; `whole` when some that the caller holds are gone, and these are all. */
  since(id: number): { readonly whole: boolean; readonly points: readonly LivePoint[] };
  readonly lastId: number;
}

export function createPointHistory(limit = MAX_POINTS): PointHistory {
  let points: LivePoint[] = [];
  let offered = 0;
  let stride = 1;
  let lastId = 0;
  let thinnedAt = 0;
  return {
    add(point) {
      if (offered++ % stride !== 0) return;
      points.push({ ...point, id: ++lastId });
      if (points.length < limit) return;
      points = points.filter((_, index) => index % 2 === 0);
      stride *= 2;
      thinnedAt = lastId;
    },
    since(id) {
      const whole = id < thinnedAt || id > lastId || id === 0;
      return { whole, points: whole ? points : points.filter((point) => point.id > id) };
    },
    get lastId() {
      return lastId;
    },
  };
}
