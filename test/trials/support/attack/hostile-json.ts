import fc from 'fast-check';
import type { PublishedCall } from '../published-shapes.ts';

/** A request that an attacker could send. */
export interface HostileRequest {
  readonly call: PublishedCall;
  readonly key: string;
  readonly bytes: Buffer;
}

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

/** The prefix of a string whose rest is written as it is, for JSON that JSON.stringify would never write. */
const RAW = 'raw:';
const ofPrototype: unknown = JSON.parse('{"__proto__":{"amount":1},"constructor":{"prototype":{"x":1}}}');

const hostileText = fc.oneof(
  fc.constantFrom(
    '', ' ', '\u0000', '\ud800', '\u202e', '__proto__', 'constructor', 'then', '../../etc/passwd', '%00', '%zz', '\r\nX: y',
    'x'.repeat(128), 'x'.repeat(129), 'x'.repeat(5000), '\u{1f600}'.repeat(64), '-1', '1e400', 'NaN', '9999000500', '9999000402',
    '9999200003', '9999100503', 'PT0S', '3650000d', '1970-01-01T00:00:00Z', '+275760-09-13T00:00:00.000Z', 'a/b', '(a+)+$',
  ), // prettier-ignore
  fc.string({ unit: 'binary', maxLength: 40 }),
);

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(
    null, true, false, 0, -0, -1, 1.005, 0.1, 1e11, 1e21, Number.MAX_SAFE_INTEGER, [], {}, [[]], [null], ofPrototype,
    nested(40), nested(120), `${RAW}1e400`, `${RAW}-1e-400`, `${RAW}123456789012345678901234567890`, `${RAW}[1,]`, `${RAW}0x10`,
    Array.from({ length: 300 }, (_, nth) => nth),
  ), // prettier-ignore
  fc.jsonValue({ maxDepth: 4 }),
);

/** One change of a document: the index of the place, and what happens there. */
interface Mutation {
  readonly at: number;
  readonly how: 'replace' | 'remove' | 'add' | 'wrap' | 'swap';
  readonly name: string;
  readonly value: unknown;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(200),
  how: fc.constantFrom('replace', 'replace', 'remove', 'add', 'wrap', 'swap'),
  name: hostileText,
  value: hostileValue,
});

type Container = Record<string, unknown>;
const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

/** Every place in a document: a list or an object, and one of its keys. */
function placesOf(value: unknown, depth = 0): [Container, string][] {
  if (!isContainer(value) || depth > 20) return [];
  const own = Object.keys(value).map((key): [Container, string] => [value, key]);
  return own.concat(...Object.values(value).map((part) => placesOf(part, depth + 1)));
}

const put = (container: Container, key: string, value: unknown): void =>
  void Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });

function mutated(document: unknown, mutations: readonly Mutation[]): unknown {
  const root: Container = { body: structuredClone(document) };
  for (const { at, how, name, value: shared } of mutations) {
    const value = structuredClone(shared); // a later mutation may change what this one inserts
    const places = placesOf(root);
    const [container, key] = places[at % Math.max(places.length, 1)] ?? [root, 'body'];
    if (Array.isArray(container) && !/^\d+$/.test(key)) continue;
    if (how === 'replace') put(container, key, value);
    else if (how === 'remove') delete container[key];
    else if (how === 'wrap') put(container, key, [container[key]]);
    else if (how === 'add' && !Array.isArray(container)) put(container, name, value);
    else if (how === 'swap') put(container, key, structuredClone(root['body']));
  }
  return root['body'];
}

function jsonOf(value: unknown): string {
  return (JSON.stringify(value) ?? '').replaceAll(/"raw:([^"]*)"/g, '$1');
}

const HEADERS: readonly (readonly [string, string])[] = [
  ['X-Sandbox-Rule', 'magic/status-500'], ['X-Sandbox-Limit', 'SANDBOX_RATE_LIMIT'], ['X-Sandbox-Request-Id', 'req-1'],
  ['Idempotent-Replayed', 'true'], ['Last-Event-ID', '-1'],
  ['Last-Event-ID', 'zzz-999999999999999'], ['Expect', '100-continue'], ['Expect', 'wonders'], ['Content-Encoding', 'gzip'],
  ['Accept-Encoding', 'gzip;q=0, br'], ['Accept', 'text/html'], ['If-None-Match', '*'], ['Range', 'bytes=0-'], ['Upgrade', 'websocket'],
  ['Cookie', 'a=b; __proto__=x'], ['X-Forwarded-For', '::1'], ['X-Http-Method-Override', 'DELETE'], ['Constructor', 'x'], ['__proto__', 'x'],
  ['X-Long', 'x'.repeat(8000)], ['X-Latin', '\u00e9\u00ff'],
]; // prettier-ignore

const TYPES = [
  'application/json', 'application/json; charset=utf-8', 'application/json; charset=utf-16', 'text/plain', '', 'json',
]; // prettier-ignore

/** Keys whose worlds keep their scenario, and keys whose worlds may get any other. */
export const PLAIN_KEYS = ['sk_test_plain_1', 'sk_test_plain_2'];
export const WILD_KEYS = ['sk_test_wild_1', 'sk_test_wild_2'];
const NO_KEYS = [
  '', 'Bearer', 'Basic c2s6', 'Bearer sk_live_1', `Bearer sk_test_${'x'.repeat(300)}`, 'Bearer sk_test_\u00e9', 'bearer  sk_test_plain_1',
]; // prettier-ignore

/** Whether a call can change the rules of a world. Only worlds of wild keys get such calls. */
const putsRules = ({ method, path }: PublishedCall): boolean =>
  method !== 'GET' && /\/(scenario|rules|state)\b/.test(path);

const pathOf = ({ path, parameters }: PublishedCall, hostile: string | null): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(
      (hostile ?? parameters.find((each) => each.name === name)?.example ?? 'x').toWellFormed(),
    ),
  );

const seldom = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });

/** Any request of a call: a valid one with some changes. */
export const hostileRequests = (
  calls: readonly PublishedCall[],
  adminToken: string,
): fc.Arbitrary<HostileRequest> =>
  fc
    .record({
      call: fc.constantFrom(...calls),
      isWild: fc.boolean(),
      nthKey: fc.nat(1),
      nthBody: fc.nat(10),
      mutations: fc.array(mutation, { maxLength: 4 }),
      pathText: seldom(hostileText),
      pathEnd: seldom(fc.constantFrom('/', '//', '/..', '/x', '%2f', '%', '.json')),
      query: seldom(fc.array(fc.tuple(fc.nat(8), seldom(hostileText)), { minLength: 1, maxLength: 3 })),
      headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 2 }),
      authorization: seldom(fc.constantFrom(...NO_KEYS)),
      type: fc.oneof(
        { weight: 9, arbitrary: fc.constant(TYPES[0]!) },
        { weight: 1, arbitrary: fc.constantFrom(...TYPES) },
      ),
      surplus: seldom(hostileValue),
    })
    .map(({ call, isWild, nthKey, nthBody, mutations, authorization, type, surplus, ...parts }) => {
      const key = (isWild || putsRules(call) ? WILD_KEYS : PLAIN_KEYS)[nthKey]!;
      const names = [
        'x',
        '__proto__',
        ...call.parameters.filter((each) => each.in === 'query').map(({ name }) => name),
      ];
      const query = (parts.query ?? []).map(([nth, text]) => {
        const name = names[nth % names.length]!;
        const example = call.parameters.find((each) => each.name === name)?.example ?? '1';
        return `${name}=${text === null ? example : encodeURIComponent(text.toWellFormed())}`;
      });
      const target =
        pathOf(call, parts.pathText) +
        (parts.pathEnd ?? '') +
        (query.length === 0 ? '' : `?${query.join('&')}`);
      const example = call.bodies[nthBody % Math.max(call.bodies.length, 1)];
      const document = example === undefined ? surplus : mutated(example, mutations);
      const body = document === null || document === undefined ? '' : jsonOf(document);
      const whose = /\/worlds\b/.test(call.path) ? adminToken : key;
      const head = [
        `${call.method} ${target} HTTP/1.1`,
        'Host: localhost',
        `Authorization: ${authorization ?? `Bearer ${whose}`}`,
        ...parts.headers.map(([name, value]) => `${name}: ${value}`),
        ...(body === '' ? [] : [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`]),
        'Connection: close',
      ];
      const bytes = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)]);
      // what a failed property prints: the shapes of the call would fill the memory
      return {
        call,
        key,
        bytes,
        [fc.toStringMethod]: () => JSON.stringify(bytes.toString('latin1', 0, 300)),
      };
    });
