import type { Action } from './sandbox-action.ts';
import { clockActions, worldActions } from './world-actions.ts';
import { journalActions } from './journal-actions.ts';
import { moneyActions } from './money-actions.ts';
import { scenarioActions } from './scenario-actions.ts';
import { serviceActions } from './service-actions.ts';

export const ACTIONS: readonly Action[] = [
  ...worldActions,
  ...serviceActions,
  ...moneyActions,
  ...clockActions,
  ...scenarioActions,
  ...journalActions,
];

/** What the actions with two words are about, by the first. */
export const SUBJECTS: Readonly<Record<string, string>> = {
  snapshot: 'save a world, and load it again',
  rule: 'add and remove the overrides of a world',
};
