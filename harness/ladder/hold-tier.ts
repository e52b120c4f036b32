// The measured time of a tier: waits until it is over, or until it makes no sense to go on (asked to stop, the crew cannot, nobody is
// left, an objective is missed beyond repair). Looks four times a second; the looks are cheap.
import type { SloResult } from '../contract/run-record.js';
import type { Crew } from '../supervisor/crew.js';

/** How often a tier without a single live env, or a missed objective, is noticed. */
const LOOK_EVERY_MS = 250;

export type Ending =
  | { readonly why: 'done' }
  | { readonly why: 'interrupted' }
  | { readonly why: 'failed'; readonly message: string }
  | { readonly why: 'slo'; readonly missed: SloResult };

export interface HoldOptions {
  readonly seconds: number;
  readonly scan: Crew['scan'];
  /** The objective that ends the tier now, or null. */
  readonly missed: () => SloResult | null;
  /** What ends every wait early. */
  readonly early: Promise<Ending>;
}

/** Holds the tier for its time. */
export async function holdTier({ seconds, scan, missed, early }: HoldOptions): Promise<Ending> {
  const endMs = performance.now() + seconds * 1000;
  let timer: NodeJS.Timeout | undefined;
  let finish: (ending: Ending) => void = () => undefined;
  const over = new Promise<Ending>((resolve) => {
    finish = resolve;
  });
  let sawNobody = false;
  const look = (): void => {
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) {
      finish({ why: 'done' });
      return;
    }
    const nobody = scan().live === 0;
    // Shared memory tells it before the workers' messages say why: believed at the second look.
    if (nobody && sawNobody) {
      finish({ why: 'failed', message: 'not one env is live any more' });
      return;
    }
    sawNobody = nobody;
    const slo = nobody ? null : missed();
    if (slo !== null) {
      finish({ why: 'slo', missed: slo });
      return;
    }
    timer = setTimeout(look, Math.min(LOOK_EVERY_MS, leftMs));
  };
  look();
  try {
    return await Promise.race([over, early]);
  } finally {
    clearTimeout(timer);
  }
}
