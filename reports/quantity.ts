// How quantities look in every format: thousands separators, units chosen by size, three figures where more would be noise. Pure; the
// locale is fixed so that a report does not depend on the machine that renders it.

/** What stands where nothing was measured. */
export const MISSING = '–';

type Maybe = number | null | undefined;

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

function isMissing(value: Maybe): value is null | undefined {
  return value === null || value === undefined || !Number.isFinite(value);
}

export function formatCount(value: Maybe): string {
  return isMissing(value) ? MISSING : whole.format(value);
}

/** Per second; below 100 with a tenth. */
export function formatRate(value: Maybe): string {
  if (isMissing(value)) return MISSING;
  return Math.abs(value) < 100 && value !== 0 ? tenths.format(value) : whole.format(value);
}

/** 1,000 -> 1k, 1,500,000 -> 1.5M: for axes. */
export function formatShort(value: number): string {
  const [divisor, unit] =
    Math.abs(value) >= 1e9 ? [1e9, 'G'] : Math.abs(value) >= 1e6 ? [1e6, 'M'] : Math.abs(value) >= 1e3 ? [1e3, 'k'] : [1, ''];
  return `${Number((value / divisor).toPrecision(3))}${unit}`;
}

/** Three figures, but never fewer than the whole part has. */
function threeFigures(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Microseconds in, `812 µs`, `1.25 ms` or `3.10 s` out. */
export function formatMicros(value: Maybe): string {
  if (isMissing(value)) return MISSING;
  if (value < 999.5) return `${value < 10 ? threeFigures(value) : whole.format(value)} µs`;
  return value < 999_500 ? `${threeFigures(value / 1000)} ms` : `${threeFigures(value / 1e6)} s`;
}

/** Seconds in; `420 ms`, `20.0 s`, `12 min 05 s`, `3 h 12 min`, `5 d 23 h` out. */
export function formatSeconds(value: Maybe): string {
  if (isMissing(value)) return MISSING;
  if (value !== 0 && value < 0.9995) return `${whole.format(value * 1000)} ms`;
  if (value < 99.95) return `${tenths.format(value)} s`;
  const s = Math.round(value);
  if (s < 120) return `${s} s`;
  if (s < 7_200) return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, '0')} s`;
  const minutes = Math.round(s / 60);
  if (minutes < 2_880) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function formatBytes(value: Maybe): string {
  if (isMissing(value)) return MISSING;
  if (value < 1024) return `${whole.format(value)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let size = value / 1024;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${threeFigures(size)} ${units[unit]}`;
}

export function formatPercent(share: Maybe): string {
  return isMissing(share) ? MISSING : `${tenths.format(share * 100)} %`;
}

/** Returns of any scale: three figures, or whole with separators. */
export function formatReturn(value: Maybe): string {
  if (isMissing(value)) return MISSING;
  const size = Math.abs(value);
  return size >= 1000 ? whole.format(value) : size >= 100 ? tenths.format(value) : threeFigures(value);
}

/** ISO 8601 in, `2026-11-30 04:55:12 UTC` out; other text unchanged. */
export function formatInstant(iso: string): string {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(iso);
  return parts === null ? iso : `${parts[1]} ${parts[2]} UTC`;
}

/** One line of text from outside: control characters (terminal escapes among them) and half characters become visible, line breaks spaces. */
export function oneLine(text: string, maxChars = 400): string {
  const clean = text
    .replace(/\s+/g, ' ')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is being removed
    .replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu, '\uFFFD')
    .trim();
  const letters = [...clean];
  return letters.length <= maxChars ? clean : `${letters.slice(0, maxChars - 1).join('')}…`;
}
