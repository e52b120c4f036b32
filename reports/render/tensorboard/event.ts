// TensorBoard's messages, as tensorflow/core/util/event.proto and framework/summary.proto number them:
//   Event   { wall_time 1 double, step 2 int64, file_version 3 string, summary 5 Summary }
//   Summary { value 1 repeated { tag 1 string, simple_value 2 float, histo 5 HistogramProto } }
//   HistogramProto { min 1, max 2, num 3, sum 4, sum_squares 5 double; bucket_limit 6, bucket 7 packed double }
// Pure.
import { bytesField, doubleField, floatField, int64Field, joinBytes, packedDoublesField, stringField } from './proto-writer.js';

/** A distribution: `count[i]` samples in (limit[i - 1], limit[i]]; limits rise. */
export interface Distribution {
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly sumSquares: number;
  readonly limit: readonly number[];
  readonly count: readonly number[];
}

export type SummaryValue =
  | { readonly tag: string; readonly scalar: number }
  | { readonly tag: string; readonly distribution: Distribution };

/** Where an event stands on TensorBoard's two axes. */
export interface EventTime {
  /** Seconds since 1970. */
  readonly wallS: number;
  readonly step: number;
}

/** First event of every file. */
export function encodeFileVersion(wallS: number): Uint8Array {
  return joinBytes([doubleField(1, wallS), stringField(3, 'brain.Event:2')]);
}

export function encodeEvent({ wallS, step }: EventTime, values: readonly SummaryValue[]): Uint8Array {
  const summary = joinBytes(values.map((value) => bytesField(1, encodeValue(value))));
  return joinBytes([doubleField(1, wallS), int64Field(2, step), bytesField(5, summary)]);
}

function encodeValue(value: SummaryValue): Uint8Array {
  const tag = stringField(1, value.tag);
  return 'scalar' in value
    ? joinBytes([tag, floatField(2, value.scalar)])
    : joinBytes([tag, bytesField(5, encodeDistribution(value.distribution))]);
}

function encodeDistribution({ min, max, sum, sumSquares, limit, count }: Distribution): Uint8Array {
  const num = count.reduce((total, samples) => total + samples, 0);
  return joinBytes([
    doubleField(1, min),
    doubleField(2, max),
    doubleField(3, num),
    doubleField(4, sum),
    doubleField(5, sumSquares),
    packedDoublesField(6, limit),
    packedDoublesField(7, count),
  ]);
}
