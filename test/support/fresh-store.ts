import { inject } from 'vitest';

const DATABASES = 1000; // of each worker

let used = 0;

/** The address of a database that no other test uses. */
export function freshStore(): string {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % 10;
  used += 1;
  return `${inject('storeUrl')}/${worker * DATABASES + (used % DATABASES)}`;
}
