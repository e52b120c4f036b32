// A machine and a stack that belong together, for the cases of the rig tests: fresh, or as the first `pulumi up` of the run left them. A case
// works on copies, so cases do not see each other. One machine runs at a time; the scope's end stops it whatever became of the case.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { putForeignFiles } from './foreign-files.js';
import { listHost } from './host-listing.js';
import { freshSnapshot, type Machine, resumeMachine, workFolder } from './machine.js';
import { copyStack, makeStack, openStack, type Stack } from './stack.js';

export interface Rig {
  readonly machine: Machine;
  readonly stack: Stack;
}

/** Why nothing can run here, as node:test's skip option. */
export const skip: string | false = process.env['RIG_TEST_LACKING'] ? `SKIPPED(${process.env['RIG_TEST_LACKING']})` : false;

/** As `skip`, for cases that need the engine and no machine. */
export const skipEngine: string | false = process.env['RIG_TEST_PULUMI'] ? false : skip;

/** Odd strings, so that a search of state and logs cannot miss them or find them by chance. */
export const SECRETS = {
  redisAdminPassword: 'Secret-admin.3f1c8d70b2a94e65',
  redisAppPassword: 'Secret-app~9be204c7d1583fa6',
  redisReplicaPassword: 'Secret_replica-60d7e1b94c2f8a35',
};

/** A rig for a machine of two cores and 2 GB. The values are what people would set. */
export const SMALL_RIG: Readonly<Record<string, string>> = {
  host: '127.0.0.1',
  user: 'rig',
  cores: '2',
  ramMb: '1900',
  minDiskMb: '1024',
  envs: '64',
  obsBytes: '64',
  packages: '["numactl"]',
  hostWaitS: '300',
};

/** A test's context, or node:test itself inside a describe: where to say what happens at the end. */
export interface Scope {
  after(done: () => Promise<void>): void;
}

/** Starts a machine for one case and ends it with the case. */
export async function machineFor(t: Scope, snapshot = freshSnapshot(), another = false): Promise<Machine> {
  const machine = await resumeMachine(snapshot, another);
  t.after(() => machine.stop());
  return machine;
}

/** The config of a stack for a machine, as the README has people set it. */
export function configFor(
  machine: Machine,
  values: Readonly<Record<string, string>> = {},
): [Record<string, string>, Record<string, string>] {
  return [
    { ...SMALL_RIG, port: String(machine.port), hostKey: machine.hostKey, ...values },
    { ...SECRETS, privateKey: machine.privateKey },
  ];
}

/** A machine that was never touched and an empty stack that points at it. */
export async function freshRig(t: Scope, values: Readonly<Record<string, string>> = {}): Promise<Rig> {
  const machine = await machineFor(t);
  const stack = await makeStack();
  await stack.setConfig(...configFor(machine, values));
  return { machine, stack };
}

const provisionedSnapshot = (): string => join(workFolder(), 'provisioned.qcow2');
const provisionedStack = (): string => join(workFolder(), 'provisioned-stack');
const hostBeforeFile = (): string => join(workFolder(), 'host-before.json');

/** A fresh rig whose machine also holds things of somebody else; how the machine looks is written down for the case of destroy. */
export async function strangersRig(t: Scope): Promise<Rig> {
  const rig = await freshRig(t);
  await putForeignFiles(rig.machine);
  writeFileSync(hostBeforeFile(), JSON.stringify(await listHost(rig.machine)));
  return rig;
}

/** The listing of the machine before the first `up`. */
export const hostBefore = (): string[] => JSON.parse(readFileSync(hostBeforeFile(), 'utf8')) as string[];

/** Keeps the rig of a finished first `up` for all later cases of the run. The machine ends. */
export async function keepProvisioned({ machine, stack }: Rig): Promise<void> {
  copyStack(stack, provisionedStack());
  await machine.save(provisionedSnapshot());
}

/** A rig as the first `up` left it. Makes it when the case of the first `up` is not part of this run. */
export async function provisionedRig(t: Scope): Promise<Rig> {
  if (!existsSync(provisionedSnapshot())) {
    const rig = await strangersRig(t);
    await mustRun(rig.stack, ['up', '--skip-preview']);
    await keepProvisioned(rig);
  }
  const machine = await machineFor(t, provisionedSnapshot());
  return { machine, stack: copyStack(openStack(provisionedStack())) };
}

/** Runs the CLI for what must work; returns its output. */
export async function mustRun(stack: Stack, words: readonly string[]): Promise<string> {
  const { code, signal, stdout, stderr } = await stack.run(words);
  if (code === 0) return stdout;
  throw new Error(`pulumi ${words.join(' ')} ended with ${signal ?? code}:\n${stdout}${stderr}`);
}
