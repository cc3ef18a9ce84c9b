import { Refusal } from '../../contract/errors.ts';
import { MAX_NESTING } from '../../contract/nesting.ts';

function refusedBody(rule: string): Refusal {
  const message = `body must not ${rule}`;
  return new Refusal('INVALID_REQUEST', { message, errors: [{ field: 'body', message }] });
}

/** For what would overflow the stack of whoever reads it. */
export const tooNested = (): Refusal => refusedBody(`be nested deeper than ${MAX_NESTING} levels`);

/** For what would take many times the memory of its text. */
export const tooCrowded = (): Refusal => refusedBody('have more values than a snapshot of its length has');
