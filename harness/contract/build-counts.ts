// What one step costs in things that can be counted (bytes copied, heap, read and write calls, messages), of one build on one machine: the
// file that `envladder compare --base` leaves beside the runs of a side and that a comparison reads back. It is the output of
// `envladder bench --json`, of which only names and values matter here.
import { z } from 'zod';

/** Beside the run folders of a side. */
export const BUILD_COUNTS_NAME = 'counts.json';

/** A row of the bench whose suite prints all counts. */
export const BUILD_COUNTS_ROW = 'copied_bytes_per_step';

export const buildCountsSchema = z.object({
  results: z
    .array(
      z.object({
        /** Goes to terminals and pages as it is. */
        name: z.string().regex(/^[a-z][a-z0-9_]{0,79}$/, 'a name in lower case'),
        /** Null: the kernel does not count it, or the bench failed. */
        value: z.number().finite().nonnegative().nullable(),
      }),
    )
    .max(1_000),
});

export interface BuildCount {
  readonly name: string;
  readonly value: number;
}
