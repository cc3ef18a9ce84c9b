import { Refusal } from '../../contract/errors.ts';

export { tooNested } from './json-body.ts';

/** For what would take many times the memory of its text. */
export function tooCrowded(): Refusal {
  const message = 'body must not have more values than a snapshot of its length has';
  return new Refusal('INVALID_REQUEST', { message, errors: [{ field: 'body', message }] });
}
