// Values of compare's flags, checked as a person typed them. Pure.
import { DECLARED_NOISE } from '../../reports/compare/run-metrics.js';
import { EnvladderError } from '../contract/errors.js';

/** A whole number within bounds. Throws `bad-usage` naming the flag. */
export function parseWhole(flag: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw new EnvladderError('bad-usage', `${flag} ${text}: give a whole number from ${least} to ${most}`);
  }
  return value;
}

/** "sampling_sps=0.05,pss_bytes=0.1" as shares by metric name. Throws `bad-usage` for unknown metrics and for what is no share. */
export function parseNoise(text: string | undefined): Record<string, number> {
  if (text === undefined) return {};
  const known = Object.keys(DECLARED_NOISE);
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', value = ''] = part.split('=').map((word) => word.trim());
      if (!known.includes(name)) {
        throw new EnvladderError('bad-usage', `--noise ${part}: no timing metric is called '${name}'; known: ${known.join(', ')}`);
      }
      const share = value === '' ? Number.NaN : Number(value);
      if (!(share >= 0 && share <= 10)) throw new EnvladderError('bad-usage', `--noise ${part}: give a share, as in ${name}=0.05 for 5 %`);
      return [name, share];
    }),
  );
}
