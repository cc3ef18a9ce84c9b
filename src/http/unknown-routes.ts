import type { FastifyInstance } from 'fastify';
import { Refusal } from '../contract/errors.ts';
import { pathOf } from './request-log.ts';

/** A route as it was registered: `/transactions/:txn_id`. */
interface Route {
  readonly path: string;
  readonly matches: (path: string) => boolean;
  readonly methods: Set<string>;
}

const isParameter = (part: string): boolean => part.startsWith(':');

function matcherOf(path: string): (asked: string) => boolean {
  const parts = path.split('/');
  return (asked) => {
    const askedParts = asked.split('/');
    return (
      askedParts.length === parts.length &&
      parts.every((part, index) =>
        isParameter(part) ? askedParts[index] !== '' : askedParts[index] === part,
      )
    );
  };
}

const noHost = (): Refusal => new Refusal('MALFORMED_REQUEST', { message: 'The Host header is missing' });

/**
 * Refuses paths and methods that nothing serves, before their body is read. Knows the routes that are registered after it.
 *
 * @param prefix what the paths of the control API begin with: whoever asks for none of them is told the others
 */
export function refuseUnknownRoutes(app: FastifyInstance, prefix: string): void {
  const routes = new Map<string, Route>();
  app.addHook('onRoute', ({ path, method }) => {
    const route = routes.get(path) ?? { path, matches: matcherOf(path), methods: new Set<string>() };
    for (const one of [method].flat()) route.methods.add(one);
    routes.set(path, route);
  });

  const listOf = (isControl: boolean): string =>
    [...routes.values()]
      .filter(({ path }) => path.startsWith(prefix) === isControl)
      .map(({ path, methods }) => `${[...methods].join(' and ')} ${path.replace(/:(\w+)/g, '{$1}')}`)
      .join(', ');

  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') throw noHost();
    if (!request.is404) return done();
    const path = pathOf(request);
    const route = [...routes.values()].find(({ matches }) => matches(path));
    if (route === undefined) {
      const isControl = path.startsWith(prefix);
      throw new Refusal('ROUTE_NOT_FOUND', { message: `No such route. The routes are ${listOf(isControl)}` });
    }
    const allow = [...route.methods].join(', ');
    throw new Refusal('METHOD_NOT_ALLOWED', {
      message: `This route takes ${allow.replace(', ', ' and ')} only`,
      headers: { allow },
    });
  });
}
