// The resources of an exported stack (`pulumi stack export --show-secrets`) as the policy rules want them. Pure. Secrets are unwrapped for the
// rules to look for and go no further; without --show-secrets there is nothing to look for, which is an error and not a pass.
import { z } from 'zod';
import { EnvladderError } from '../../harness/contract/errors.js';
import type { PolicyResource } from './rules.js';

/** Marks what the engine wraps; the second is the kind "secret". */
const SIGNATURE = '4dabf18193072939515e22adb298388d';
const SECRET = '1b47061264138c4ac30d75fd1eb44270';

const deploymentSchema = z.object({
  deployment: z.object({
    resources: z.array(z.object({ urn: z.string(), type: z.string(), inputs: z.record(z.string(), z.unknown()).optional() })).optional(),
  }),
});

function unwrapped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unwrapped);
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Record<string, unknown>;
  if (record[SIGNATURE] !== SECRET) return Object.fromEntries(Object.entries(record).map(([key, each]) => [key, unwrapped(each)]));
  const { plaintext } = record;
  if (typeof plaintext !== 'string') {
    throw new EnvladderError(
      'bad-usage',
      'the export holds encrypted secrets, so rules about them cannot be checked: pulumi stack export --show-secrets',
    );
  }
  return unwrapped(JSON.parse(plaintext));
}

/** Reads the text of an export. Throws `bad-usage` for anything else. */
export function deployedResources(text: string): PolicyResource[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw new EnvladderError('bad-usage', 'stdin is not JSON: pipe `pulumi stack export --show-secrets` into this command', { cause });
  }
  const parsed = deploymentSchema.safeParse(document);
  if (!parsed.success)
    throw new EnvladderError('bad-usage', 'stdin is JSON, but no export of a stack: it has no deployment with resources');
  return (parsed.data.deployment.resources ?? []).map(({ urn, type, inputs }) => ({
    type,
    name: urn.split('::').at(-1) ?? urn,
    inputs: unwrapped(inputs ?? {}) as Record<string, unknown>,
  }));
}
