// The test command: finds every test/**/*.test.ts, runs them with node:test through tsx, two files at a time (the machines have two
// cores), and ends with a count of what was skipped and why. Arguments narrow the files: `npm test -- memory learner/gae`.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const wanted = process.argv.slice(2);

function testFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

const files = testFiles('test').filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)));
if (files.length === 0) {
  console.error(`no test file matches: ${wanted.join(' ')}`);
  process.exit(2);
}
// Everything the tests put under the temporary folder goes with it at the end, whatever became of them.
const temporary = mkdtempSync(join(tmpdir(), 'envladder-test-'));
const child = spawn(
  process.execPath,
  ['--import', 'tsx', '--test', '--test-concurrency=2', `--test-reporter=${join(root, 'scripts/test-reporter.mjs')}`, ...files],
  { cwd: root, stdio: 'inherit', env: { ...process.env, NODE_ENV: 'test', TMPDIR: temporary } },
);
child.on('exit', (code, signal) => {
  rmSync(temporary, { recursive: true, force: true });
  process.exit(signal ? 1 : (code ?? 1));
});
