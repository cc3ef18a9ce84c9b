/** Setup of the tests that run a second time with their worlds in a store: each sandbox has a database of its own there. */
import { inject, vi } from 'vitest';
import type * as SettingsModule from '../../src/settings.ts';
import { freshStore } from './fresh-store.ts';

vi.mock('../../src/settings.ts', async (importOriginal) => {
  const original = await importOriginal<typeof SettingsModule>();
  const readSettings: typeof original.readSettings = (flags, environment) => {
    const settings = original.readSettings(flags, environment);
    const keepsState = settings.state !== undefined || settings.store !== undefined;
    return keepsState || inject('storeUrl') === '' ? settings : { ...settings, store: freshStore() };
  };
  return { ...original, readSettings };
});
