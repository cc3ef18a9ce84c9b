import type { RouteOptions } from 'fastify';
import type { z } from 'zod';
import { NoRequest } from '../../contract/control.ts';
import { ErrorAnswer } from '../../contract/error-answer.ts';
import { REFUSALS, type RefusalCode } from '../../contract/errors.ts';
import type { Tag } from '../route-schemas.ts';
import { HEADERS, headersOfAnswer, headersOfRefusals } from './answer-headers.ts';
import { JsonSchemas } from './json-schemas.ts';

const TAGS: Readonly<Record<Tag, string>> = {
  Payouts: 'The payout service: the three routes of its interface',
  World: 'The world of one key as a whole',
  Clock: 'The clock of a world: freeze it, or move it forward and apply every step that is due by then',
  Wallet: 'The wallet of a world, its ledger entries and its payouts',
  Scenario: 'How a world behaves: its scenario, and the rules that a test puts on top',
  Journal: 'The requests to a world, its answers, and what decided them',
  State: 'Snapshots: save, restore or fork a world',
  Server: 'The server and all its worlds',
};

const DESCRIPTION = `A server that stands in for the payout service, and the control API that controls it.

Every key has its own **world**: a wallet, its payouts and its clock. Use any key that begins with \`sk_test_\`, such as
\`sk_test_demo\`, unless the sandbox was given a list of keys. Amounts are INR, times ISO 8601 in UTC.

The control API is under \`/_sandbox\`. The same key controls its world, and requests there are never rate-limited, faulted or
journaled. The errors of the service are shown in the default dialect; a scenario may use other bodies and statuses, and a
rule may send any answer.`;

/** Errors of every route. */
const OF_ANY: readonly RefusalCode[] = ['MALFORMED_REQUEST', 'HOST_NOT_ALLOWED', 'INTERNAL_ERROR'];
/** Errors of the payout routes before a request is complete. */
const OF_THE_SERVICE: readonly RefusalCode[] = ['REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE'];
const OF_NO_ROUTE: readonly RefusalCode[] = ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED'];
const OF_A_KEY: readonly RefusalCode[] = ['UNAUTHORIZED'];
const OF_A_QUERY: readonly RefusalCode[] = ['INVALID_REQUEST'];
/** What every call that changes something can meet: a body may be sent with any of them, also with one that takes none. */
const OF_A_CHANGE: readonly RefusalCode[] = [
  'ORIGIN_NOT_ALLOWED',
  'INVALID_REQUEST',
  'INVALID_JSON',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
];

/** An example request to a route, and its response. */
export interface Example {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Example bodies by name. `answer` is the response to the first. */
  readonly bodies?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly answer?: unknown;
}

/** By operationId. The examples are recorded: test/http/openapi/openapi-examples.test.ts sends them and writes the file. */
export type Examples = Readonly<Record<string, Example>>;

type Schema = NonNullable<RouteOptions['schema']>;

const something = (schema: unknown): z.ZodType | undefined =>
  schema === NoRequest ? undefined : (schema as z.ZodType | undefined);
const bodyOf = (schema: Schema): z.ZodType | undefined => schema.requestBody ?? something(schema.body);
const isObject = (value: unknown): value is z.ZodObject => typeof value === 'object' && value !== null;

/** The errors of a route by their status, in the order of the catalogue. */
function refusalsOf({
  schema = {},
  config,
  method,
}: RouteOptions): ReadonlyMap<number, readonly RefusalCode[]> {
  const met = new Set([
    ...OF_ANY,
    ...(method === 'GET' ? [] : OF_A_CHANGE),
    ...(config?.name === undefined ? [] : OF_THE_SERVICE),
    ...(schema.access === 'everybody' ? [] : OF_A_KEY),
    ...(schema.querystring === undefined ? [] : OF_A_QUERY),
    ...(schema.errors ?? []),
  ]);
  const codes = (Object.keys(REFUSALS) as RefusalCode[]).filter((code) => met.has(code));
  const byStatus = new Map<number, RefusalCode[]>();
  for (const code of codes) {
    const { status } = REFUSALS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

/** The OpenAPI 3.1 document of routes. */
class Document {
  readonly #schemas = new JsonSchemas();
  readonly #examples: Examples;

  constructor(examples: Examples) {
    this.#examples = examples;
  }

  of(routes: readonly RouteOptions[], version: string): object {
    const paths: Record<string, Record<string, object>> = {};
    for (const route of routes.filter(({ schema }) => schema?.undocumented !== true)) {
      const path = route.url.replaceAll(/:(\w+)/g, '{$1}');
      for (const method of [route.method].flat()) {
        paths[path] = { ...paths[path], [method.toLowerCase()]: this.#operation(route) };
      }
    }
    return {
      openapi: '3.1.0',
      info: {
        title: 'Payout sandbox',
        version,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'The server of this document' }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths,
      components: {
        securitySchemes: {
          key: {
            type: 'http',
            scheme: 'bearer',
            description: 'The API key of a world: sk_test_demo, or any key that begins with sk_test_',
          },
          admin: {
            type: 'http',
            scheme: 'bearer',
            description: 'SANDBOX_ADMIN_TOKEN, or the token that was printed at the start',
          },
        },
        headers: HEADERS,
        schemas: this.#schemas.components,
      },
    };
  }

  #operation(route: RouteOptions): object {
    const schema = route.schema ?? {};
    const { operationId = '', summary, description, tag, access = 'key' } = schema;
    const example = this.#examples[operationId] ?? {};
    const parameters = this.#parameters(schema, example);
    const body = bodyOf(schema);
    return {
      tags: tag === undefined ? [] : [tag],
      summary,
      description,
      operationId,
      security: access === 'everybody' ? [] : [{ [access]: [] }],
      ...(parameters.length > 0 && { parameters }),
      ...(body !== undefined && {
        requestBody: {
          required: true,
          content: {
            [schema.requestType ?? 'application/json']: {
              schema: this.#schemas.of(body, 'input'),
              examples: example.bodies,
            },
          },
        },
      }),
      responses: { ...this.#answers(route, example), ...this.#refusals(route) },
    };
  }

  #parameters({ params, querystring, requestHeaders }: Schema, { path, query }: Example): object[] {
    const of = (place: string, shape: unknown, values: Readonly<Record<string, unknown>> = {}): object[] => {
      if (!isObject(shape)) return [];
      return Object.entries(shape.shape as Readonly<Record<string, z.ZodType>>).map(([name, part]) => {
        const { description, ...schema } = this.#schemas.of(part, 'input');
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

  #answers(route: RouteOptions, example: Example): object {
    const { response = {}, answers, summary } = route.schema ?? {};
    const headers = headersOfAnswer(route);
    if (answers !== undefined) {
      const { type, description, schema } = answers;
      const shape = schema === undefined ? { type: 'string' } : this.#schemas.of(schema, 'output');
      return {
        200: { description, headers, content: { [type]: { schema: shape, example: example.answer } } },
      };
    }
    const all = Object.entries(response as Readonly<Record<string, z.ZodType>>);
    return Object.fromEntries(
      all.map(([status, schema], index) => {
        const content = { schema: this.#schemas.of(schema, 'output'), example: example.answer };
        if (index > 0) delete content.example;
        const description = schema.description ?? summary ?? '';
        return [status, { description, headers, content: { 'application/json': content } }];
      }),
    );
  }

  #refusals(route: RouteOptions): object {
    const isService = route.config?.name !== undefined;
    const answerOf = (codes: readonly RefusalCode[], description: string): object => ({
      description,
      headers: headersOfRefusals(route, codes),
      content: {
        'application/json': {
          schema: this.#schemas.of(ErrorAnswer, 'output'),
          examples: Object.fromEntries(
            codes.map((code) => [
              code,
              { value: { status: 'error', message: REFUSALS[code].message, code } },
            ]),
          ),
        },
      },
    });
    const byStatus = [...refusalsOf(route)].map(([status, codes]) => [
      status,
      answerOf(codes, codes.map((code) => REFUSALS[code].message).join('; ')),
    ]);
    return {
      ...Object.fromEntries(byStatus),
      ...(isService && {
        default: answerOf(OF_NO_ROUTE, 'Any answer of a rule, and errors of requests that match no route'),
      }),
    };
  }
}

/** The document of these routes, as JSON text. */
export const openapiDocument = (
  routes: readonly RouteOptions[],
  version: string,
  examples: Examples,
): string => JSON.stringify(new Document(examples).of(routes, version));
