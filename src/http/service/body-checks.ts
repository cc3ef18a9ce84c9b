import type { preValidationHookHandler } from 'fastify';
import { fieldErrors } from '../../contract/field-errors.ts';
import { InitiateRequest } from '../../contract/service.ts';
import { invalidRequest } from '../schemas.ts';

/** Refuses fields that the interface does not have, with all else that is wrong, in a dialect that wants it so. */
export const refuseUnknownFields: preValidationHookHandler = ({ body, dialect }, _reply, done) => {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (dialect.requests.unknown_fields === 'ignore' || !isObject) return done();
  const unknown = Object.keys(body).filter((field) => !Object.hasOwn(InitiateRequest.shape, field));
  if (unknown.length === 0) return done();
  const known = InitiateRequest.safeParse(body);
  const errors = [
    ...(known.success ? [] : fieldErrors(known.error, body, 'body')),
    ...unknown.map((field) => ({ field, message: `${field} is not a field of the interface` })),
  ];
  throw invalidRequest(errors);
};
