import type { RouteOptions } from 'fastify';
import type { z } from 'zod';
import { NoRequest } from '../../contract/control.ts';
import { ErrorResponse, REFUSALS, type RefusalCode } from '../../contract/errors.ts';
import { TAGS } from '../routes.ts';
import { JsonSchemas } from './json-schemas.ts';
import { RESPONSES } from './responses.ts';

const DESCRIPTION = `A sandbox of the payout service, and the control API that controls it.

Every key has its own **world**: a wallet, its payouts and its clock. Use any key that begins with \`sk_test_\`, such as
\`sk_test_demo\`, unless the sandbox was given a list of keys. Amounts are INR, times ISO 8601 in UTC.

The control API is under \`/_sandbox\`. The same key controls its world, and requests there are never rate-limited, faulted or
journaled. The errors of the service are shown in the default dialect; a scenario may use other bodies and statuses, and a
rule may send any response.`;

const OF_ANY: readonly RefusalCode[] = ['MALFORMED_REQUEST', 'HOST_NOT_ALLOWED', 'INTERNAL_ERROR'];
/** Errors of the payout routes before a request is complete. */
const OF_THE_SERVICE: readonly RefusalCode[] = ['REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE'];
const OF_NO_ROUTE: readonly RefusalCode[] = ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED'];
const OF_A_KEY: readonly RefusalCode[] = ['UNAUTHORIZED', 'SANDBOX_BUSY', 'STORE_UNAVAILABLE']; // they all read worlds
const OF_A_QUERY: readonly RefusalCode[] = ['INVALID_REQUEST'];
/** Errors of every call that changes something: a body may be sent with any of them, even with one that takes none. */
const OF_A_CHANGE: readonly RefusalCode[] = [
  'ORIGIN_NOT_ALLOWED',
  'INVALID_REQUEST',
  'INVALID_JSON',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
];

const header = (description: string, example: string, shape: object = {}) => ({
  description,
  schema: { type: 'string', ...shape },
  example,
});

/** Response headers, for the components of the document. */
const HEADERS = {
  'X-Sandbox-Request-Id': header('The id of this request in the log and in the journal', 'req-1'),
  'X-Sandbox-Rule': header('The rule that decided this response: scenario/rule', 'magic/status-402'),
  'X-Sandbox-Limit': header('The setting whose limit refused this request', 'SANDBOX_RATE_LIMIT'),
  'X-Sandbox-Action': header('The number of this control action, if an undo can take it back', '17'),
  'X-Sandbox-World-Dropped': header(
    'When and why the payouts and the balance of this key were dropped, until its world is reset',
    'at 2026-01-15T10:30:00.000Z with its 3 payouts: SANDBOX_MAX_WORLDS',
  ),
  'X-Sandbox-Warning': header(
    'Why a bank might refuse this payout, whose fields are accepted here',
    'amount is below INR 2,00,000, the minimum of RTGS',
  ),
  'Idempotent-Replayed': header(
    'An earlier request with this client_ref_id made this payout; this request debited nothing',
    'true',
    { enum: ['true'] },
  ),
  'Last-Event-ID': header(
    'Where a new reader begins: it sends this to continue if the connection breaks before the first event',
    '1k2f9a.17',
  ),
  'Retry-After': header('Seconds of wall time until the next request is allowed', '1', {
    pattern: '^\\d+$',
  }),
  'WWW-Authenticate': header('The required authentication scheme', 'Bearer'),
};
type HeaderName = keyof typeof HEADERS;

const OF_REFUSALS: { readonly [Code in RefusalCode]?: readonly HeaderName[] } = {
  HOST_NOT_ALLOWED: ['X-Sandbox-Limit'],
  ORIGIN_NOT_ALLOWED: ['X-Sandbox-Limit'],
  RATE_LIMITED: ['Retry-After', 'X-Sandbox-Limit'],
  SANDBOX_FULL: ['X-Sandbox-Limit'],
  SANDBOX_BUSY: ['Retry-After'],
  STORE_UNAVAILABLE: ['Retry-After'],
  UNAUTHORIZED: ['WWW-Authenticate'],
};

/** The headers that a response of a route may have. @param codes those that it may be refused with */
function headersOf({ method, config, schema }: RouteOptions, codes: readonly RefusalCode[]): object {
  const isService = config?.name !== undefined;
  const names = new Set<HeaderName>(['X-Sandbox-Request-Id', 'X-Sandbox-World-Dropped']);
  if (isService) names.add('X-Sandbox-Rule');
  else if (method !== 'GET') names.add('X-Sandbox-Action');
  for (const name of schema?.responseHeaders ?? []) names.add(name);
  for (const name of codes.flatMap((code) => OF_REFUSALS[code] ?? [])) names.add(name);
  return Object.fromEntries([...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export interface Example {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number>>;
  /** Example bodies by name. `answer` is the response to the first. */
  readonly bodies?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly answer?: unknown;
}

/** By operationId. The examples are recorded: test/http/openapi/openapi-examples.test.ts sends them and writes the file. */
type Examples = Readonly<Record<string, Example>>;

type Schema = NonNullable<RouteOptions['schema']>;

const something = (schema: unknown): z.ZodType | undefined =>
  schema === NoRequest ? undefined : (schema as z.ZodType | undefined);
const isObject = (value: unknown): value is z.ZodObject => typeof value === 'object' && value !== null;

/** The errors of a route by their status, in the order of the catalogue. */
function refusalsOf({ schema = {}, config, method }: RouteOptions): readonly [number, RefusalCode[]][] {
  const met = new Set([
    ...OF_ANY,
    ...(method === 'GET' ? [] : OF_A_CHANGE),
    ...(config?.name === undefined ? [] : OF_THE_SERVICE),
    ...(schema.access === 'everybody' ? [] : OF_A_KEY),
    ...(schema.querystring === undefined ? [] : OF_A_QUERY),
    ...(schema.errors ?? []),
  ]);
  const codes = (Object.keys(REFUSALS) as RefusalCode[]).filter((code) => met.has(code));
  const statuses = new Set(codes.map((code) => REFUSALS[code].status));
  return [...statuses].map((status) => [status, codes.filter((code) => REFUSALS[code].status === status)]);
}

function parametersOf(
  { params, querystring, requestHeaders }: Schema,
  { path, query }: Example,
  schemas: JsonSchemas,
): object[] {
  const of = (place: string, shape: unknown, values: Readonly<Record<string, unknown>> = {}): object[] => {
    if (!isObject(shape)) return [];
    return Object.entries(shape.shape as Readonly<Record<string, z.ZodType>>).map(([name, part]) => {
      const { description, ...schema } = schemas.of(part, 'input');
      const isRequired = !part.safeParse(undefined).success;
      return { name, in: place, description, required: isRequired, schema, example: values[name] };
    });
  };
  return [
    ...of('path', params, path),
    ...of('query', something(querystring), query),
    ...of('header', requestHeaders),
  ];
}

function answersOf(route: RouteOptions, { answer }: Example, schemas: JsonSchemas): object {
  const { operationId, responseType = 'application/json', summary } = route.schema ?? {};
  const headers = headersOf(route, []);
  const all = Object.entries<z.ZodType>(RESPONSES[operationId as keyof typeof RESPONSES]);
  return Object.fromEntries(
    all.map(([status, schema], index) => {
      const example = index === 0 && { example: answer };
      const content = { [responseType]: { schema: schemas.of(schema, 'output'), ...example } };
      return [status, { description: schema.description ?? summary ?? '', headers, content }];
    }),
  );
}

function refusalResponsesOf(route: RouteOptions, schemas: JsonSchemas): object {
  const answerOf = (codes: readonly RefusalCode[], description: string): object => {
    const examples = codes.map((code) => {
      const { message } = REFUSALS[code];
      return [code, { value: { status: 'error', message, code } }];
    });
    const schema = schemas.of(ErrorResponse, 'output');
    return {
      description,
      headers: headersOf(route, codes),
      content: { 'application/json': { schema, examples: Object.fromEntries(examples) } },
    };
  };
  const byStatus = refusalsOf(route).map(([status, codes]) => [
    status,
    answerOf(codes, codes.map((code) => REFUSALS[code].message).join('; ')),
  ]);
  const isService = route.config?.name !== undefined;
  return {
    ...Object.fromEntries(byStatus),
    ...(isService && {
      default: answerOf(OF_NO_ROUTE, 'Any response of a rule, and errors of requests that match no route'),
    }),
  };
}

function operationOf(route: RouteOptions, examples: Examples, schemas: JsonSchemas): object {
  const schema = route.schema ?? {};
  const { operationId = '', summary, description, tag, access = 'key' } = schema;
  const example = examples[operationId] ?? {};
  const parameters = parametersOf(schema, example, schemas);
  const body = schema.requestBody ?? something(schema.body);
  const content = body && {
    [schema.requestType ?? 'application/json']: {
      schema: schemas.of(body, 'input'),
      examples: example.bodies,
    },
  };
  return {
    tags: tag === undefined ? [] : [tag],
    summary,
    description,
    operationId,
    security: access === 'everybody' ? [] : [{ [access]: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(content && { requestBody: { required: !body.safeParse(undefined).success, content } }),
    responses: { ...answersOf(route, example, schemas), ...refusalResponsesOf(route, schemas) },
  };
}

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description });

/** The OpenAPI 3.1 document of these routes, as JSON text. Other requests have their turn after each route. @param examplesText `Examples` as JSON */
export async function openapiDocument(
  routes: readonly RouteOptions[],
  version: string,
  examplesText: string,
  yieldToEventLoop: () => Promise<void>,
): Promise<string> {
  const schemas = new JsonSchemas();
  const examples = JSON.parse(examplesText) as Examples;
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes.filter(
    ({ method, schema }) => method !== 'HEAD' && schema?.undocumented !== true,
  )) {
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}');
    const method = String(route.method).toLowerCase();
    paths[path] = { ...paths[path], [method]: operationOf(route, examples, schemas) };
    await yieldToEventLoop();
  }
  return JSON.stringify({
    openapi: '3.1.0',
    info: {
      title: 'Payout sandbox',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The server that sent this document' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        key: bearer('The API key of a world: sk_test_demo, or any key that begins with sk_test_'),
        admin: bearer('SANDBOX_ADMIN_TOKEN, or the token that was shown on the terminal at the start'),
      },
      headers: HEADERS,
      schemas: schemas.components,
    },
  });
}
