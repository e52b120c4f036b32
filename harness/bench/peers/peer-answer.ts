// The lines that a peer's driver answers with, one JSON object each, checked before they are believed: a driver that says something else
// is a failure of that peer with its line in the message, never a figure.
import { z } from 'zod';

const seconds = z.number().nonnegative();

const answerSchema = z.discriminatedUnion('type', [
  /** First full batch (or a learner built): imports and build apart. */
  z.object({ type: z.literal('ready'), importS: seconds, startS: seconds, versions: z.record(z.string(), z.string()) }),
  z.object({ type: z.literal('window'), steps: z.number().int().positive(), seconds: z.number().positive() }),
  /** `seconds` null: the limit came first. */
  z.object({ type: z.literal('learned'), steps: z.number().int().nonnegative(), seconds: seconds.nullable() }),
  z.object({
    type: z.literal('stage'),
    stage: z.string(),
    event: z.enum(['begin', 'raised', 'went-on']),
    error: z.string().optional(),
    steps: z.number().int().nonnegative().optional(),
    afterS: seconds.optional(),
  }),
  /** Only envladder's own driver: what was seen of a fault, in words. */
  z.object({ type: z.literal('observed'), good: z.boolean(), text: z.string() }),
]);

export type PeerAnswer = z.infer<typeof answerSchema>;
export type AnswerType = PeerAnswer['type'];
export type AnswerOf<Type extends AnswerType> = Extract<PeerAnswer, { type: Type }>;

/** Parses one line. Throws with the line and what is wrong with it. */
export function parseAnswer(line: string): PeerAnswer {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Error(`a driver's line is no JSON: ${line.slice(0, 200)}`);
  }
  const parsed = answerSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Error(`a driver's line is not understood (${issue?.path.join('.') || 'type'}: ${issue?.message}): ${line.slice(0, 200)}`);
}
