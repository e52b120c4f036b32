// Strict readers of the formats that reports write: what they do not understand to the last character, they refuse. For tests only.
import assert from 'node:assert/strict';

export interface XmlElement {
  readonly name: string;
  readonly attributes: Record<string, string>;
  readonly children: XmlElement[];
  text: string;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(/&([^;]*);?/g, (whole, name: string) => {
    const code = /^#x([\da-f]+)$/i.exec(name)?.[1];
    const letter = code === undefined ? ENTITIES[name] : String.fromCodePoint(Number.parseInt(code, 16));
    assert.ok(letter !== undefined && whole.endsWith(';'), `no entity: ${whole}`);
    return letter;
  });
}

/** Well-formed XML 1.0 without namespaces and comments: its root. */
export function parseXml(text: string): XmlElement {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what XML 1.0 forbids
  const illegal = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\ud800-\udfff]/u.exec(text);
  assert.equal(illegal, null, `character ${illegal?.[0].charCodeAt(0).toString(16)} is no XML`);
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  const token = /<\?xml[^?]*\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([a-z-]+)((?:\s+[a-z]+="[^"<]*")*)\s*(\/?)>|([^<]+)/y;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    assert.ok(match !== null, `no XML at ${JSON.stringify(text.slice(at, at + 80))}`);
    const top = open.at(-1) as XmlElement;
    const [, cdata, closing, name, attributes, empty, chars] = match;
    if (cdata !== undefined) top.text += cdata;
    else if (chars !== undefined) {
      assert.ok(!chars.includes(']]>'), 'text must not hold the end of CDATA');
      top.text += decode(chars).trim();
    } else if (closing === '/') assert.equal(open.pop()?.name, name);
    else if (name !== undefined) {
      const pairs = [...(attributes ?? '').matchAll(/([a-z]+)="([^"]*)"/g)].map((pair) => [pair[1] ?? '', decode(pair[2] ?? '')] as const);
      const element: XmlElement = { name, attributes: Object.fromEntries(pairs), children: [], text: '' };
      top.children.push(element);
      if (empty !== '/') open.push(element);
    }
  }
  assert.equal(open.length, 1, 'every element is closed');
  assert.equal(root.children.length, 1);
  return root.children[0] as XmlElement;
}

/** RFC 4180: rows of cells. Every line ends in CRLF. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const match = cell.exec(text);
    assert.ok(match !== null, `no CSV at ${JSON.stringify(text.slice(at, at + 80))}`);
    row.push(match[1]?.replace(/""/g, '"') ?? match[2] ?? '');
    if (match[3] === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

export interface Sample {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly value: number;
}

/** Prometheus text 0.0.4: every line, every series once, each family together and after its HELP and TYPE. */
export function parseExposition(text: string): Sample[] {
  assert.ok(text.endsWith('\n'));
  const samples: Sample[] = [];
  const seen = new Set<string>();
  const families = new Set<string>();
  let family = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP ([a-z_]+) \S.*$/.exec(line)?.[1];
    const type = /^# TYPE ([a-z_]+) (gauge|counter|histogram)$/.exec(line)?.[1];
    if (help !== undefined) {
      assert.ok(!families.has(help), `${help} stands twice`);
      families.add(help);
      family = help;
      continue;
    }
    if (type !== undefined) {
      assert.equal(type, family);
      continue;
    }
    const match = /^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\n"])*",?)*)\})? (\S+)$/.exec(line);
    assert.ok(match !== null, `no sample: ${line}`);
    const [series = '', name = '', labels = '', value = ''] = match;
    assert.ok(name === family || [`${family}_bucket`, `${family}_sum`, `${family}_count`].includes(name), `${name} stands below ${family}`);
    const key = series.slice(0, series.length - value.length);
    assert.ok(!seen.has(key), `stands twice: ${key}`);
    seen.add(key);
    assert.ok(value === '+Inf' || Number.isFinite(Number(value)), value);
    const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(
      (pair) => [pair[1] ?? '', (pair[2] ?? '').replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter))] as const,
    );
    samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
  }
  return samples;
}
