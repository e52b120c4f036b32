// Goal: what a `pulumi preview` of an empty stack would do is a file in the repository, so a change of it is seen in review; and it asks the
// host nothing.
import { strictEqual } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { mustRun, SECRETS, SMALL_RIG, skipEngine } from './rig.js';
import { makeStack } from './stack.js';

const GOLDEN = join(import.meta.dirname, '../golden/infra/preview.json');

interface Step {
  readonly op: string;
  readonly urn: string;
  readonly newState: {
    readonly inputs?: Record<string, unknown>;
    readonly dependencies?: string[];
    readonly additionalSecretOutputs?: string[];
  };
}

/** `infra/scripts` are hashed into the paths; their text is not what this golden file is about. */
const withoutHashes = (text: string): string => text.replace(/\b[0-9a-f]{64}\b/g, 'SHA256').replace(/\b[0-9a-f]{16}\b/g, 'HASH');
const nameOf = (urn: string): string => urn.split('::').slice(2).join(' ');

function normalised({ op, urn, newState }: Step): unknown {
  const { __defaults: _d, source: _text, connection, stdin, ...inputs } = newState.inputs ?? {};
  return {
    op,
    resource: nameOf(urn),
    // The engine lists them in the order in which they became known.
    after: (newState.dependencies ?? []).map(nameOf).sort(),
    secretInputs: Object.entries({ connection, stdin }).flatMap(([name, value]) => (value === undefined ? [] : [name])),
    secretOutputs: [...(newState.additionalSecretOutputs ?? [])].sort(),
    inputs,
  };
}

it('a preview of an empty stack is the golden one', { skip: skipEngine }, async () => {
  const stack = await makeStack();
  const privateKey = '-----BEGIN OPENSSH PRIVATE KEY-----\nbm90aGluZw==\n-----END OPENSSH PRIVATE KEY-----\n';
  // An address that is nobody's: a preview that dialled would not end.
  const hostKey = `ssh-ed25519 ${'A'.repeat(68)}`;
  await stack.setConfig({ ...SMALL_RIG, host: '192.0.2.1', hostKey }, { ...SECRETS, privateKey });
  const preview = await mustRun(stack, ['preview', '--json']);
  for (const secret of [...Object.values(SECRETS), 'bm90aGluZw==']) strictEqual(preview.includes(secret), false, 'a secret in a preview');
  const { steps, changeSummary } = JSON.parse(preview) as { steps: Step[]; changeSummary: unknown };
  const sorted = steps.map(normalised).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const found = withoutHashes(`${JSON.stringify({ changeSummary, steps: sorted }, null, 1)}\n`);
  if (process.env['ENVLADDER_UPDATE_GOLDEN']) writeFileSync(GOLDEN, found);
  const [lines, golden] = [found.split('\n'), readFileSync(GOLDEN, 'utf8').split('\n')];
  const at = lines.findIndex((line, index) => line !== golden[index]);
  const advice = 'if it is meant: ENVLADDER_UPDATE_GOLDEN=1 npm run test:rig -- preview, and look at the difference';
  strictEqual(at === -1 ? '' : `line ${at + 1}: ${lines[at]}`, at === -1 ? '' : `line ${at + 1}: ${golden[at]}`, advice);
  strictEqual(lines.length, golden.length, advice);
});
