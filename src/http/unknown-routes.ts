import type { FastifyInstance, RouteOptions } from 'fastify';
import { Refusal } from '../contract/errors.ts';
import { pathOf } from './request-log.ts';

/** Whether a path is one of a route: `/transactions/TXN1` of `/transactions/:txn_id`. */
function fits(route: string, path: string): boolean {
  const [parts, asked] = [route.split('/'), path.split('/')];
  return (
    asked.length === parts.length &&
    parts.every((part, index) => (part.startsWith(':') ? asked[index] !== '' : asked[index] === part))
  );
}

/** The routes in words: `GET and DELETE /rules, GET /transactions/{txn_id}`. */
function listOf(routes: readonly RouteOptions[]): string {
  const methods = new Map<string, string>();
  for (const { url, method } of routes) {
    const known = methods.get(url);
    methods.set(url, known === undefined ? String(method) : `${known} and ${String(method)}`);
  }
  return [...methods].map(([url, names]) => `${names} ${url.replace(/:(\w+)/g, '{$1}')}`).join(', ');
}

/**
 * Refuses paths and methods that nothing serves, before their body is read.
 *
 * @param prefix what the paths of the control API begin with: its routes are listed apart from those of the service
 */
export function refuseUnknownRoutes(
  app: FastifyInstance,
  routes: readonly RouteOptions[],
  prefix: string,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new Refusal('MALFORMED_REQUEST', { message: 'The Host header is missing' });
    }
    if (!request.is404) return done();
    const path = pathOf(request);
    const methods = routes.filter(({ url }) => fits(url, path)).flatMap(({ method }) => method);
    if (methods.length === 0) {
      const isControl = path.startsWith(prefix);
      const others = routes.filter(({ url }) => url.startsWith(prefix) === isControl);
      throw new Refusal('ROUTE_NOT_FOUND', { message: `No such route. The routes are ${listOf(others)}` });
    }
    const allow = methods.join(', ');
    throw new Refusal('METHOD_NOT_ALLOWED', {
      message: `This route takes ${allow.replace(', ', ' and ')} only`,
      headers: { allow },
    });
  });
}
