// Pulumi's wire format of values that are more than JSON: secrets and assets are objects with a signature key. Pure.
const SIGNATURE = '4dabf18193072939515e22adb298388d';
const SECRET = '1b47061264138c4ac30d75fd1eb44270';
const ASSETS = ['c44067f5952c0a294b673a41bacd8c17', '0def7320c3a5731c473e5ecbe6d01bc7'];

const isObject = (value) => typeof value === 'object' && value !== null;
const isSecret = (value) => isObject(value) && value[SIGNATURE] === SECRET;

/** The value with every secret replaced by what is in it. */
export function reveal(value) {
  if (isSecret(value)) return reveal(value.value);
  if (Array.isArray(value)) return value.map(reveal);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, reveal(inner)]));
  return value;
}

export function hasSecret(value) {
  return isSecret(value) || (isObject(value) && Object.values(value).some(hasSecret));
}

export function wrapSecret(value) {
  return { [SIGNATURE]: SECRET, value };
}

/** JSON with sorted keys, so that two values are equal when their texts are. Of an asset or archive only the content counts, not where it lay. */
export function canonical(value) {
  return JSON.stringify(value, (_key, inner) => {
    if (!isObject(inner) || Array.isArray(inner)) return inner;
    if (ASSETS.includes(inner[SIGNATURE])) return inner.hash;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
