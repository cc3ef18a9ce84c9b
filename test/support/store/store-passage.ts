/**
 * Setup of all tests. It gives a store more time than in use, and each sandbox of the tests that run a second time a database of
 * its own there. Those that move the wall clock stay in memory, since the wall clock of a store is its own.
 */
import { vi } from 'vitest';
import type * as AppModule from '../../../src/app.ts';
import type * as StoreTimes from '../../../src/log/store-times.ts';
import { patient } from './store-times.ts';
import { freshStore } from './fresh-store.ts';
import { isStored } from '../size.ts';
import { ManualClock } from '../world/manual-clock.ts';

vi.mock('../../../src/app.ts', async (importOriginal) => {
  const original = await importOriginal<typeof AppModule>();
  const buildApp: typeof original.buildApp = async (parts) => {
    const { settings, wallClock } = parts;
    const isElsewhere = settings.state !== undefined || settings.store !== undefined;
    if (!isStored || isElsewhere || wallClock instanceof ManualClock) return original.buildApp(parts);
    return original.buildApp({ ...parts, settings: { ...settings, store: await freshStore() } });
  };
  return { ...original, buildApp };
});

vi.mock('../../../src/log/store-times.ts', async (importOriginal) =>
  patient(await importOriginal<typeof StoreTimes>()),
);
