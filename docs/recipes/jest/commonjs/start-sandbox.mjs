import { startSandbox } from 'payout-sandbox';

/** Runs once, outside the tests; what it puts into the environment reaches all of them. */
export default async function start() {
  globalThis.sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z' });
  process.env.PAYOUT_URL = globalThis.sandbox.url;
}
