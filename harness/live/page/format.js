// Numbers as people read them. The page's own copy: a browser cannot import the report's.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** 7,000 */
export const count = (value) => whole.format(Math.round(value));

/** 52.1k on axes */
export function short(value) {
  for (const [limit, letter] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ])
    if (Math.abs(value) >= limit) return `${Number((value / limit).toPrecision(3))}${letter}`;
  return String(Number(value.toPrecision(3)));
}

export const percent = (share) => `${Math.round(share * 100)} %`;

/** 42 s, 12 min 5 s, 3 h 20 min, 5 d 2 h */
export function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 === 0 ? '' : ` ${s % 60} s`}`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h${s % 3600 < 60 ? '' : ` ${Math.floor((s % 3600) / 60)} min`}`;
  return `${Math.floor(s / 86_400)} d${s % 86_400 < 3600 ? '' : ` ${Math.floor((s % 86_400) / 3600)} h`}`;
}

export function bytes(value) {
  for (const [limit, unit] of [
    [2 ** 40, 'TiB'],
    [2 ** 30, 'GiB'],
    [2 ** 20, 'MiB'],
  ])
    if (value >= limit) return `${Number((value / limit).toPrecision(3))} ${unit}`;
  return `${Math.round(value / 1024)} KiB`;
}
