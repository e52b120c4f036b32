// node:test reporter: one line per test file and per failure, SKIPPED(reason) lines gathered at the end, then the plain count.
import { relative } from 'node:path';
import { inspect } from 'node:util';

function fileOf(data) {
  return data.file ? relative(process.cwd(), data.file) : '';
}

// biome-ignore lint/style/noDefaultExport: node:test loads a reporter by its default export
export default async function* report(source) {
  const failures = [];
  const skipped = [];
  let passed = 0;
  let failed = 0;
  for await (const event of source) {
    const data = event.data;
    if (event.type === 'test:stdout' || event.type === 'test:stderr') {
      yield data.message;
      continue;
    }
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const isFile = data.nesting === 0 && data.file?.endsWith(data.name);
    // A suite that is skipped as a whole reports none of its tests: it counts as one.
    const isSkipped = typeof data.skip === 'string' && data.skip !== '';
    if ((data.details?.type === 'suite' && !isSkipped) || isFile) {
      if (event.type === 'test:fail' && isFile && data.details.error?.failureType !== 'subtestsFailed') {
        failed++;
        failures.push(data);
        yield `FAIL ${data.name}\n`;
      }
      continue;
    }
    const seconds = (data.details.duration_ms / 1000).toFixed(2);
    if (data.skip !== undefined || data.todo !== undefined) {
      const reason = typeof data.skip === 'string' && data.skip ? data.skip.replace(/^SKIPPED\((.*)\)$/s, '$1') : 'no reason given';
      skipped.push(`SKIPPED(${reason}) ${data.name}`);
      yield `skip  ${fileOf(data)} > ${data.name} (${reason})\n`;
    } else if (event.type === 'test:pass') {
      passed++;
      yield `ok    ${fileOf(data)} > ${data.name} (${seconds} s)\n`;
    } else if (data.details.error?.failureType !== 'subtestsFailed') {
      failed++;
      failures.push(data);
      yield `FAIL  ${fileOf(data)} > ${data.name} (${seconds} s)\n`;
    }
  }
  for (const data of failures) {
    const error = data.details.error;
    yield `\nFAILED ${fileOf(data)} > ${data.name}\n${inspect(error?.cause ?? error, { colors: false, depth: 6 })}\n`;
  }
  if (skipped.length > 0) yield `\n${skipped.join('\n')}\n`;
  yield `\n${passed} passed, ${failed} failed, ${skipped.length} skipped\n`;
}
