export function reveal(value: unknown): unknown;
export function hasSecret(value: unknown): boolean;
export function wrapSecret(value: unknown): unknown;
export function canonical(value: unknown): string;
