import { Refusal } from '../contract/errors.ts';

/** The refusals of a sandbox that holds as much as it may. */

export const full = (maxTransactions: number): Refusal =>
  new Refusal('SANDBOX_FULL', {
    message: `The sandbox is full: SANDBOX_MAX_TRANSACTIONS is ${maxTransactions}`,
    limit: 'SANDBOX_MAX_TRANSACTIONS',
  });

export const noRoomForRules = (): Refusal =>
  new Refusal('SANDBOX_FULL', {
    message: 'The scenarios and rules of all worlds are as many as SANDBOX_MAX_RULES allows',
    limit: 'SANDBOX_MAX_RULES',
  });
