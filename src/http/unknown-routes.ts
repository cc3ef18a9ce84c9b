import type { FastifyRequest, RouteOptions } from 'fastify';
import { Refusal } from '../contract/errors.ts';
import { listed } from '../contract/words.ts';
import { pathOf } from './http-exchange.ts';
import { CONTROL_PREFIX } from './request-checks.ts';

/** Whether a path matches a route: `/transactions/TXN1` of `/transactions/:txn_id`. */
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
  for (const { url, method } of routes.filter(({ method }) => method !== 'HEAD')) {
    const known = methods.get(url);
    methods.set(url, known === undefined ? String(method) : `${known} and ${String(method)}`);
  }
  return [...methods].map(([url, names]) => `${names} ${url.replace(/:(\w+)/g, '{$1}')}`).join(', ');
}

/** Refuses a path or a method that nothing serves, before its body is read. The control API's routes are listed apart. */
export function refuseUnknownRoute(request: FastifyRequest, routes: readonly RouteOptions[]): void {
  const path = pathOf(request);
  const methods = routes.filter(({ url }) => fits(url, path)).flatMap(({ method }) => method);
  if (methods.length === 0) {
    const isControl = path.startsWith(CONTROL_PREFIX);
    const others = routes.filter(({ url }) => url.startsWith(CONTROL_PREFIX) === isControl);
    throw new Refusal('ROUTE_NOT_FOUND', { message: `No such route. The routes are ${listOf(others)}` });
  }
  throw new Refusal('METHOD_NOT_ALLOWED', {
    message: `This route supports only ${listed(methods)}`,
    headers: { allow: methods.join(', ') },
  });
}
