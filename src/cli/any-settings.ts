import { runningClock } from '../world/clock.ts';
import type { ScenarioSettings } from '../contract/snapshot.ts';

/** Stands for the settings, which decide nothing about whether a file can be used. */
export const ANY_SETTINGS: ScenarioSettings = {
  openingBalancePaise: 0,
  seed: '1',
  clock: runningClock,
  settlement: 'demo',
  rateLimit: 'off',
  isMagic: false,
};
