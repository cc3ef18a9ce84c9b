import type { Action } from './sandbox-action.ts';
import { clockActions } from './clock-actions.ts';
import { journalActions } from './journal-actions.ts';
import { payoutActions } from './payout-actions.ts';
import { scenarioActions } from './scenario-actions.ts';
import { serviceActions } from './service-actions.ts';
import { walletActions } from './wallet-actions.ts';
import { worldActions } from './world-actions.ts';

export const ACTIONS: readonly Action[] = [
  ...worldActions,
  ...serviceActions,
  ...payoutActions,
  ...walletActions,
  ...clockActions,
  ...scenarioActions,
  ...journalActions,
];

/** What the actions with two words are about, by the first. */
export const SUBJECTS: Readonly<Record<string, string>> = {
  snapshot: 'save a world, and load it again',
  rule: 'add and remove the overrides of a world',
};
