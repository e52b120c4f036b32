// Goal: the program tells the engine exactly the rig that its config describes, in an order that can be undone backwards, and nothing secret.
// ENVLADDER_UPDATE_GOLDEN=1 writes the golden file anew.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { rigOutputSchema } from '../../harness/contract/rig-output.js';
import { GPU_KEYS, type RecordedProgram, type RecordedResource, runProgram, SMALL_RIG, withKeys } from './program.js';

const GOLDEN = join(import.meta.dirname, '../golden/infra/gpu-rig.json');
const COMMAND = 'command:remote:Command';
const COPY = 'command:remote:CopyToRemote';

const text = (value: unknown): string => String(value ?? '');
const commandsOf = ({ resources }: RecordedProgram): RecordedResource[] => resources.filter(({ type }) => type === COMMAND);
function named(program: RecordedProgram, name: string, type = COMMAND): RecordedResource {
  const found = program.resources.find((each) => each.name === name && each.type === type);
  assert.ok(found, `${type} ${name} is not in the program`);
  return found;
}
/** Scripts change often and the program seldom: their hashes are no part of what is compared. */
const withoutHashes = (value: unknown): string => text(value).replace(/\.envladder-rig\/[0-9a-f]{16}\//g, '.envladder-rig/HASH/');
/** A name and everything it waits for, through others too. */
function reach(program: RecordedProgram, name: string): Set<string> {
  const seen = new Set<string>();
  const visit = (each: string): void => {
    for (const next of program.resources.filter((resource) => resource.name === each).flatMap(({ dependsOn }) => dependsOn)) {
      if (seen.has(next)) continue;
      seen.add(next);
      visit(next);
    }
  };
  visit(name);
  return seen;
}

describe('the rig program', () => {
  let small: RecordedProgram;
  let gpu: RecordedProgram;
  before(async () => {
    const release = join(mkdtempSync(join(tmpdir(), 'rig-release-')), 'envladder.tgz');
    writeFileSync(release, 'an archive');
    small = await runProgram(SMALL_RIG);
    gpu = await runProgram(withKeys({ ...SMALL_RIG, ...GPU_KEYS }, { release, ladderPlan: 'smoke' }));
    assert.deepEqual([small.error, gpu.error], [null, null]);
  });

  it('registers for a GPU rig what the golden file says', () => {
    const shown = gpu.resources.map(({ name, type, parent, dependsOn, inputs, timeouts }) => ({
      name,
      type,
      parent,
      dependsOn,
      ...(type === COPY ? { remotePath: withoutHashes(inputs['remotePath']) } : {}),
      ...(type === COMMAND
        ? {
            create: withoutHashes(inputs['create']).replace(/: (driver|rig) [0-9a-f]{12};/, ': $1 HASH;'),
            delete: withoutHashes(inputs['delete']),
            logging: inputs['logging'],
          }
        : {}),
      timeout: timeouts.create,
    }));
    const found = `${JSON.stringify(shown, null, 2)}\n`;
    if (process.env['ENVLADDER_UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, found);
    assert.equal(
      found,
      readFileSync(GOLDEN, 'utf8'),
      'if the change is meant: ENVLADDER_UPDATE_GOLDEN=1 npm run -s test:only -- rig-program, and look at the difference',
    );
  });

  it('leaves out what the config leaves out', async () => {
    const names = (program: RecordedProgram): string[] => program.resources.filter(({ parent }) => parent === null).map(({ name }) => name);
    assert.deepEqual(names(small), ['host-ready', 'base-system', 'rig-slices', 'redis-trio', 'shm-janitor', 'node-runtime']);
    const bare = await runProgram(
      withKeys(SMALL_RIG, {
        redis: 'false',
        nodeArchive: null,
        nodeSha256: null,
        redisAdminPassword: null,
        redisAppPassword: null,
        redisReplicaPassword: null,
      }),
    );
    assert.deepEqual(names(bare), ['host-ready', 'base-system', 'rig-slices', 'shm-janitor']);
    assert.deepEqual(
      names(gpu).filter((name) => !names(small).includes(name)),
      ['nvidia-driver', 'reboot', 'cuda-toolkit', 'envladder-release', 'ladder-run'],
    );
  });

  it('puts one concern after the other: no two commands are ever due at once', () => {
    for (const program of [small, gpu]) {
      const commands = commandsOf(program);
      const depth = commands.map(({ name }) => commands.filter((other) => reach(program, name).has(other.name)).length);
      assert.deepEqual(
        depth.toSorted((a, b) => a - b),
        commands.map((_, index) => index),
      );
    }
  });

  it('keeps few SSH sessions open at once: an upload waits for the command before it', () => {
    const first = named(gpu, 'host-ready-script', COPY);
    assert.deepEqual(first.dependsOn, ['host-reachable']);
    for (const { name, type, dependsOn } of gpu.resources) {
      if (type === COPY && name !== first.name)
        assert.ok(
          dependsOn.some((each) => commandsOf(gpu).some((command) => command.name === each)),
          name,
        );
    }
  });

  it('makes another host a delete there and a create here, with all others taken along while their scripts exist', () => {
    for (const { name, type, inputs, dependsOn, deleteBeforeReplace } of gpu.resources) {
      if (type !== COMMAND && type !== COPY) continue;
      assert.ok(deleteBeforeReplace, name);
      const first = ['host-reachable', 'host-ready-script', 'host-ready'].includes(name);
      assert.deepEqual(inputs['triggers'], first ? ['rig.example:22'] : ['rig.example:22', 'host-ready-id'], name);
      if (!first) assert.ok(dependsOn.includes('host-ready'), `${name} does not hang on the anchor`);
    }
  });

  it('keeps the host the same when only its address changes and it has a name of its own', async () => {
    const triggers = async (host: string) =>
      named(await runProgram(withKeys(SMALL_RIG, { host, hostId: 'rig-1' })), 'base-system').inputs['triggers'];
    assert.deepEqual(await triggers('10.0.0.1'), await triggers('10.0.0.2'));
  });

  it('uploads each script under the hash of what it uploads, and runs that file', () => {
    for (const { name, type, inputs } of gpu.resources) {
      if (type !== COPY || !name.endsWith('-script')) continue;
      const source = text((inputs['source'] as { text?: unknown }).text);
      const hash = createHash('sha256').update(source).digest('hex').slice(0, 16);
      const concern = name.replace(/-script$/, '');
      assert.equal(inputs['remotePath'], `.envladder-rig/${hash}/${concern}.sh`);
      assert.match(source, /^main "\$@"$/m);
      assert.doesNotMatch(source, /^\. "/m, `${concern} still sources a file that is not uploaded`);
      const command = named(gpu, concern);
      assert.ok(text(command.inputs['create']).includes(`sudo -n bash ${text(inputs['remotePath'])} apply`), concern);
      assert.equal(command.inputs['delete'], `sudo -n bash ${text(inputs['remotePath'])} revert`);
      assert.ok(command.dependsOn.includes(name));
    }
  });

  it('runs the reboot again when the driver changes, and not when something else does', async () => {
    const reboot = async (keys: Record<string, string>) =>
      named(await runProgram(withKeys({ ...SMALL_RIG, ...GPU_KEYS }, keys)), 'reboot').inputs['create'];
    const plain = await reboot({});
    assert.equal(await reboot({ janitorMinAgeS: '60', cudaVersion: '11.7' }), plain);
    assert.notEqual(await reboot({ nvidiaVersion: '535.104.05' }), plain);
  });

  it('lets a driver that needs a reboot first go on to the reboot, and finishes it afterwards', () => {
    const [first, done, again] = ['nvidia-driver', 'reboot-done', 'nvidia-driver-again'].map((name) => named(gpu, name));
    assert.ok(first && done && again);
    assert.equal(first.inputs['create'], `${text(again.inputs['create'])} || test $? = 79`);
    assert.ok(reach(gpu, done.name).has(first.name));
    assert.deepEqual(
      again.dependsOn.filter((name) => name !== 'host-ready'),
      ['reboot-done'],
    );
    assert.ok(named(gpu, 'cuda-toolkit').dependsOn.includes(again.name));
    for (const { name, inputs } of commandsOf(gpu)) assert.equal(text(inputs['create']).includes('$?'), name === first.name, name);
  });

  it('changes one command when one weight changes', async () => {
    const changed = await runProgram(withKeys(SMALL_RIG, { slices: '{"workers":{"cpuWeight":80}}' }));
    const different = changed.resources.filter(
      (each, index) => JSON.stringify(each.inputs) !== JSON.stringify(small.resources[index]?.inputs),
    );
    assert.deepEqual(
      different.map(({ name }) => name),
      ['rig-slices'],
    );
  });

  it('applies one concern again when its repair gets another word', async () => {
    const repaired = await runProgram(withKeys(SMALL_RIG, { repair: '{"redis-trio":"monday"}' }));
    const different = repaired.resources.filter(
      (each, index) => JSON.stringify(each.inputs) !== JSON.stringify(small.resources[index]?.inputs),
    );
    assert.deepEqual(
      different.map(({ name, type }) => [name, type]),
      [['redis-trio', COMMAND]],
    );
    assert.equal(named(repaired, 'redis-trio').inputs['create'], `: repair monday; ${text(named(small, 'redis-trio').inputs['create'])}`);
  });

  it('asks a root login for no sudo, and tells another user what sudo lacks', async () => {
    const root = await runProgram(withKeys(SMALL_RIG, { user: 'root' }));
    for (const { inputs } of commandsOf(root)) assert.doesNotMatch(text(inputs['create']), /sudo/);
    assert.match(text(named(small, 'host-reachable').inputs['create']), /^sudo -n true \|\| \{ echo '.*NOPASSWD.*' >&2; exit 75; \}$/);
  });

  it('hands secrets to the one command that needs them, on stdin, marked as such, and lets its output be secret', () => {
    for (const { name, type, secretInputs, additionalSecretOutputs, inputs } of gpu.resources) {
      if (type !== COMMAND && type !== COPY) continue;
      assert.deepEqual([...secretInputs].sort(), name === 'redis-trio' ? ['connection', 'stdin'] : ['connection'], name);
      if (name === 'redis-trio') {
        for (const output of ['stdout', 'stderr']) assert.ok(additionalSecretOutputs.includes(output), output);
        assert.equal(
          inputs['stdin'],
          'admin=nobody-sees-admin-password\napp=nobody-sees-app-password\nreplica=nobody-sees-replica-password\n',
        );
      }
      const { connection: _, stdin: __, ...open } = inputs;
      assert.doesNotMatch(JSON.stringify(open), /nobody-sees/);
    }
    assert.doesNotMatch(JSON.stringify(gpu.outputs), /nobody-sees/);
  });

  it('waits for the host and for a reboot without an end of its own, and bounds both by the engine', () => {
    for (const { name, type, inputs, timeouts } of gpu.resources) {
      if (type !== COMMAND && type !== COPY) continue;
      const patient = name === 'host-reachable' || name === 'reboot-done';
      assert.equal((inputs['connection'] as { dialErrorLimit: number }).dialErrorLimit, patient ? -1 : 60, name);
      assert.notEqual(timeouts.create, '', name);
    }
    assert.equal(named(gpu, 'host-reachable').timeouts.create, '1200s');
  });

  it('lets go of a host that is gone without a word to it', async () => {
    const gone = await runProgram(withKeys(SMALL_RIG, { hostGone: 'true', envs: '128' }));
    for (const { name, type, retainOnDelete, ignoreChanges } of gone.resources) {
      if (type !== COMMAND && type !== COPY) continue;
      assert.ok(retainOnDelete, name);
      for (const input of ['create', 'update', 'delete', 'connection', 'triggers', 'source'])
        assert.ok(ignoreChanges.includes(input), `${name} ${input}`);
    }
    assert.ok(small.resources.every(({ retainOnDelete }) => !retainOnDelete));
  });

  it('puts out what envladder reads, with a hash that follows the desired state alone', async () => {
    const output = rigOutputSchema.parse(gpu.outputs['rig']);
    assert.equal(output.machine.gpus, 4);
    assert.equal(output.gpuStack, true);
    assert.deepEqual(output.concerns.map(({ concern }) => concern).at(-1), 'ladder-run');
    const hash = async (keys: Record<string, string>) =>
      rigOutputSchema.parse((await runProgram(withKeys(SMALL_RIG, keys))).outputs['rig']).configHash;
    const plain = rigOutputSchema.parse(small.outputs['rig']).configHash;
    assert.equal(await hash({ host: '10.1.1.1', redisAppPassword: 'another-password-of-the-app' }), plain);
    assert.notEqual(await hash({ envs: '255' }), plain);
  });
});
