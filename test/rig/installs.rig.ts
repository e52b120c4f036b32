// Goal: what comes onto the host as a file (driver, toolkit, Node, release) is verified before it is used, survives a kill half-way, is switched in
// one step, and goes again without a trace. Contract tests on small fakes: no GPU was driven; the real Node and release run in the ladder's case.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { differences, listHost } from './host-listing.js';
import { type Machine, workFolder } from './machine.js';
import { machineFor, skip } from './rig.js';
import { runOrThrow } from './run-process.js';
import { hasSaid, type ScriptAnswer, scriptOn } from './script-on-host.js';

const MIRROR = '/srv/mirror';
const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
/** Files of tools on the way that are no part of what is tested, and the uploads, which go with the whole rig. */
const OURS = /\/(run\/lock\/envladder|var\/lib\/fake-gpu|srv\/mirror|root\/\.envladder-rig)/;

/** An archive of these files under one top folder, on the machine. Returns its path there and its hash. */
async function putArchive(machine: Machine, name: string, files: Readonly<Record<string, string>>): Promise<{ path: string; sum: string }> {
  const folder = mkdtempSync(join(workFolder(), 'archive-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, 'top', path)), { recursive: true });
    writeFileSync(join(folder, 'top', path), text, { mode: 0o755 });
  }
  const archive = join(folder, name);
  await runOrThrow('tar', ['-C', folder, '-czf', archive, 'top']);
  await machine.put(archive, `${MIRROR}/${name}`);
  return { path: `${MIRROR}/${name}`, sum: sha256(archive) };
}

/** Says its version and otherwise that all is well; takes its time while the host has this file, so that a kill finds it at work. */
const SLOW = '/srv/slow-node';
const fakeNode = (version: string): Readonly<Record<string, string>> => ({
  'bin/node': `#!/bin/sh\n[ ! -e ${SLOW} ] || sleep 10\n[ "$1" != --version ] || echo v${version}\n`,
});

function fakeRelease(version: string): Readonly<Record<string, string>> {
  const files: Record<string, string> = {
    'release.json': `{\n  "version": "${version}",\n}\n`,
    'dist/harness/cli/main.js': `// ${version}\n`,
  };
  const manifest = Object.keys(files)
    .sort()
    .map(
      (path) =>
        `${createHash('sha256')
          .update(files[path] ?? '')
          .digest('hex')}  ${path}\n`,
    )
    .join('');
  return { ...files, 'MANIFEST.sha256': manifest };
}

const expectAnswer = (answer: ScriptAnswer, code: number, changed: boolean): void =>
  deepStrictEqual([answer.code, answer.changed], [code, changed], answer.words);

async function clean(machine: Machine, before: Awaited<ReturnType<typeof listHost>>): Promise<void> {
  deepStrictEqual(
    differences(before, await listHost(machine)).filter((line) => !OURS.test(line)),
    [],
    'something is left',
  );
}

describe('what is installed from files', { skip }, () => {
  it('Node: verified, killed, switched to another version and back, reverted', async (t) => {
    const machine = await machineFor(t);
    const first = await putArchive(machine, 'node-a.tar.gz', fakeNode('20.20.2'));
    const second = await putArchive(machine, 'node-b.tar.gz', fakeNode('22.1.0'));
    const before = await listHost(machine);
    const script = await scriptOn(machine, 'node-runtime');
    const a = { version: '20.20.2', url: first.path, sha256: first.sum };
    const b = { version: '22.1.0', url: second.path, sha256: second.sum };
    const wrong = await script.run('apply', { ...a, sha256: second.sum });
    strictEqual(wrong.code, 70, wrong.words);
    match(wrong.words, /damaged, or not the file that was meant/);
    match(
      (await script.run('apply', { ...b, url: first.path, sha256: first.sum })).words,
      /the archive holds Node v20\.20\.2, wanted v22\.1\.0/,
    );
    await machine.sh(`touch ${SLOW}`);
    await script.killApply('pgrep -f /opt/node-v20.20.2.rig-new/bin/node', a);
    await machine.sh(`rm ${SLOW}`);
    expectAnswer(await script.run('apply', a), 0, true);
    expectAnswer(await script.run('apply', a), 0, false);
    expectAnswer(await script.run('apply', b), 0, true);
    strictEqual(await machine.sh('node --version && readlink -f /usr/local/bin/node'), 'v22.1.0\n/opt/node-v22.1.0/bin/node');
    await machine.sh(`rm ${first.path}`);
    expectAnswer(await script.run('apply', a), 0, true);
    strictEqual(await machine.sh('node --version'), 'v20.20.2', 'the way back needs no file');
    await machine.sh('echo "# touched" >>/opt/node-v20.20.2/bin/node');
    deepStrictEqual((await script.run('check', a)).differs, ['folder:/opt/node-v20.20.2']);
    expectAnswer(await script.run('revert'), 0, true);
    expectAnswer(await script.run('revert'), 0, false);
    await clean(machine, before);
  });

  it('a release: every file verified, killed, switched, back without the archive, older ones pruned, reverted', async (t) => {
    const machine = await machineFor(t);
    const node = await putArchive(machine, 'node.tar.gz', fakeNode('20.20.2'));
    const runtime = await scriptOn(machine, 'node-runtime');
    const releases = await Promise.all(
      ['1.0.0', '1.1.0', '1.2.0', '1.3.0'].map((version) => putArchive(machine, `r${version}.tgz`, fakeRelease(version))),
    );
    const script = await scriptOn(machine, 'envladder-release');
    const params = (index: number): Record<string, string> => ({ hash: releases[index]?.sum ?? '', path: releases[index]?.path ?? '' });
    strictEqual((await script.run('apply', params(0))).code, 75, 'there is no Node');
    await script.run('revert');
    expectAnswer(await runtime.run('apply', { version: '20.20.2', url: node.path, sha256: node.sum }), 0, true);
    const before = await listHost(machine);
    await script.killApply(hasSaid('changed: release:'), params(0));
    expectAnswer(await script.run('apply', params(0)), 0, true);
    expectAnswer(await script.run('apply', params(1)), 0, true);
    strictEqual((await script.run('check', params(1))).after['version'], '1.1.0');
    await machine.sh(`rm ${releases[0]?.path}`);
    expectAnswer(await script.run('apply', params(0)), 0, true);
    strictEqual((await script.run('check', params(0))).after['version'], '1.0.0', 'the way back needs no archive');
    await machine.sh('echo x >>/opt/envladder/current/dist/harness/cli/main.js; touch /opt/envladder/releases/extra');
    ok((await script.run('check', params(0))).differs.some((name) => name.startsWith('release:')));
    for (const index of [1, 2, 3]) expectAnswer(await script.run('apply', params(index)), 0, true);
    strictEqual(await machine.sh('rm /opt/envladder/releases/extra; ls /opt/envladder/releases | wc -l'), '3');
    expectAnswer(await script.run('revert'), 0, true);
    expectAnswer(await script.run('revert'), 0, false);
    await clean(machine, before);
  });

  it('contract, no GPU driven: driver, toolkit and cuDNN', async (t) => {
    const machine = await machineFor(t);
    const folder = mkdtempSync(join(workFolder(), 'gpu-mirror-'));
    await runOrThrow('bash', [join(import.meta.dirname, 'fixtures/make-gpu-mirror.sh'), folder]);
    const names = ['nvidia-driver.run', 'cuda-toolkit.run', 'cudnn.tar.gz', 'host-tools.tar.gz'];
    for (const name of names) await machine.put(join(folder, name), `${MIRROR}/${name}`);
    await machine.sh(`tar -xzf ${MIRROR}/host-tools.tar.gz -C /usr/local/bin && mkdir -p /lib/modules/$(uname -r)/build /var/lib/fake-gpu`);
    const sum = (name: string): string => sha256(join(folder, name));
    const driver = { version: '525.85.12', runfile: `${MIRROR}/nvidia-driver.run`, sha256: sum('nvidia-driver.run') };
    const toolkit = {
      version: '11.8',
      runfile: `${MIRROR}/cuda-toolkit.run`,
      sha256: sum('cuda-toolkit.run'),
      cudnn: `${MIRROR}/cudnn.tar.gz`,
      cudnnSha256: sum('cudnn.tar.gz'),
      needMb: '100',
    };
    const before = await listHost(machine);
    const [gpu, cuda] = [await scriptOn(machine, 'nvidia-driver'), await scriptOn(machine, 'cuda-toolkit')];
    await machine.sh('touch /var/lib/fake-gpu/fail');
    const failed = await gpu.run('apply', driver);
    strictEqual(failed.code, 70, failed.words);
    match(failed.words, /Unable to load the kernel module[\s\S]*nvidia-installer\.log/, "the installer's own words");
    await machine.sh('rm /var/lib/fake-gpu/fail && touch /var/lib/fake-gpu/slow');
    await gpu.killApply('[ "$(wc -l </var/lib/fake-gpu/driver.args)" -ge 2 ]', driver);
    await machine.sh('rm /var/lib/fake-gpu/slow');
    expectAnswer(await gpu.run('apply', driver), 0, true);
    expectAnswer(await gpu.run('apply', driver), 0, false);
    await machine.sh('systemctl stop nvidia-persistenced');
    deepStrictEqual([...(await gpu.run('check', driver)).differs], ['persistenced', 'persistence-mode']);
    expectAnswer(await gpu.run('apply', driver), 0, true);
    strictEqual((await gpu.run('check', driver)).code, 0);
    expectAnswer(await cuda.run('apply', toolkit), 0, true);
    expectAnswer(await cuda.run('apply', toolkit), 0, false);
    await machine.sh('echo /usr/local/cuda-12.0/lib64 >/etc/ld.so.conf.d/zz-other.conf');
    deepStrictEqual((await cuda.run('check', toolkit)).differs, ['ldconfig']);
    await machine.sh('rm /etc/ld.so.conf.d/zz-other.conf');
    for (const script of [cuda, gpu]) {
      expectAnswer(await script.run('revert'), 0, true);
      expectAnswer(await script.run('revert'), 0, false);
    }
    await clean(machine, before);
  });
});
