import type { FastifyInstance } from 'fastify';
import { Refusal } from '../contract/errors.ts';
import { PAYOUT_ROUTES } from './payout-routes.ts';
import { pathOf } from './request-record.ts';

const ROUTE_LIST = Object.entries(PAYOUT_ROUTES)
  .map(([path, method]) => `${method} ${path}`)
  .join(', ');

const methodOf = (path: string): string | undefined =>
  Object.hasOwn(PAYOUT_ROUTES, path) ? PAYOUT_ROUTES[path as keyof typeof PAYOUT_ROUTES] : undefined;

const noHost = (): Refusal => new Refusal('MALFORMED_REQUEST', { message: 'The Host header is missing' });

/** Refuses paths and methods that nothing serves, before their body is read. */
export function refuseUnknownRoutes(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') throw noHost();
    if (!request.is404) return done();
    const allow = methodOf(pathOf(request));
    if (allow === undefined) {
      throw new Refusal('ROUTE_NOT_FOUND', { message: `No such route. The routes are ${ROUTE_LIST}` });
    }
    throw new Refusal('METHOD_NOT_ALLOWED', {
      message: `This route takes ${allow} only`,
      headers: { allow },
    });
  });
}
