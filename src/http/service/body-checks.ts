import type { preValidationHookHandler } from 'fastify';
import { Refusal } from '../../contract/errors.ts';
import { fieldErrors } from '../../contract/field-errors.ts';
import { InitiateRequest, MAX_TEXT_LENGTH } from '../../contract/payout.ts';

/** Notes the reference of a body before it is checked, so that the line of a request that is refused names it too. */
export const noteReference: preValidationHookHandler = ({ body, record }, _reply, done) => {
  const reference = (body as { client_ref_id?: unknown } | null | undefined)?.client_ref_id;
  if (typeof reference === 'string' && reference.length <= MAX_TEXT_LENGTH) record.clientRefId = reference;
  done();
};

/** Refuses fields that the interface does not have, with all else that is wrong, in a dialect that wants it so. */
export const refuseUnknownFields: preValidationHookHandler = ({ body, scenario }, _reply, done) => {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (scenario.dialect.requests.unknown_fields === 'ignore' || !isObject) return done();
  const unknown = Object.keys(body).filter((field) => !Object.hasOwn(InitiateRequest.shape, field));
  if (unknown.length === 0) return done();
  const known = InitiateRequest.safeParse(body);
  const errors = [
    ...(known.success ? [] : fieldErrors(known.error, body, 'body')),
    ...unknown.map((field) => ({ field, message: `${field} is not a field of the interface` })),
  ];
  throw new Refusal('INVALID_REQUEST', { message: errors.map(({ message }) => message).join('; '), errors });
};
