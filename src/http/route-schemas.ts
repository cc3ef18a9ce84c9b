import type { FastifyError, FastifySchema, FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { fieldError, Refusal, type FieldError, type RefusalCode } from '../contract/errors.ts';
import { parseShape, pathText, reported, type Path } from '../contract/shape-issues.ts';
import type { RESPONSES } from './openapi/responses.ts';

/** The groups of calls in the OpenAPI document. */
export const TAGS = {
  Payouts: 'The payout service: its three routes',
  World: 'The world of one key as a whole',
  Clock: 'The clock of a world: freeze it, or move it forward and apply every step that is due by then',
  Wallet: 'The wallet of a world, its ledger entries and its payouts',
  Scenario: 'How a world behaves: its scenario, and the overrides of a test',
  'Held requests': 'Requests that rules hold until a test releases them: every order of requests in flight',
  Journal: 'The requests to a world, its responses, and what decided them',
  State: 'Snapshots: save, restore or fork a world',
  Server: 'The server and all its worlds',
} as const;
type Tag = keyof typeof TAGS;

/** A header that a successful response may have in addition to those of every response. */
type ResponseHeader = 'Idempotent-Replayed' | 'Last-Event-ID' | 'X-Sandbox-Warning';

/**
 * What the OpenAPI document says about a route, in addition to its schemas. Fastify reads none of it: the request's headers and body
 * are not under `headers` and `body`, since Fastify would validate those.
 */
interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tag?: Tag;
  /** Who may call it: anyone with the key of a world (the default), anyone with the admin token, or everybody. */
  readonly access?: 'admin' | 'everybody';
  /** Its errors, in addition to those of every route: invalid requests and keys. */
  readonly errors?: readonly RefusalCode[];
  readonly requestHeaders?: z.ZodObject;
  /** The request body of a route that validates it itself, since its messages say more than those of a schema. */
  readonly requestBody?: z.ZodType;
  readonly requestType?: string;
  readonly responseType?: string;
  readonly responseHeaders?: readonly ResponseHeader[];
  /** True for a part of a page, which is not a call of the API. */
  readonly undocumented?: true;
}

declare module 'fastify' {
  interface FastifySchema extends Operation {}
}

/** The options of a route: its schemas, and what the OpenAPI document says about it. Its responses are those of `operationId`. */
export const operation = <
  const Id extends keyof typeof RESPONSES,
  const Schema extends FastifySchema = object,
>(
  tag: Tag,
  operationId: Id,
  summary: string,
  schema?: Schema,
) => ({
  schema: { tag, operationId, summary, ...schema } as Schema & { readonly response: (typeof RESPONSES)[Id] }, // for types only
});

/** Fastify's names of the parts of a request, and the words for them in a response. */
const PART_NAMES: Readonly<Record<string, string>> = { querystring: 'query', params: 'path' };
export const partName = (httpPart = 'body'): string => PART_NAMES[httpPart] ?? httpPart;

/** A refusal that names what is wrong with a part of a request. @param more how many further problems there are */
export function invalidRequest(errors: readonly FieldError[], more = 0): Refusal {
  const message = errors.map((error) => error.message).join('; ') + (more > 0 ? `; and ${more} more` : '');
  return new Refusal('INVALID_REQUEST', { message, errors });
}

/** The same for one field. @param problem the rest of a sentence that begins with the name of the field */
export const invalidField = (field: string, problem: string): Refusal =>
  invalidRequest([fieldError(field, problem)]);

/** @param whole the name of the part of the request, for an error that concerns no single field */
export const inWords = (path: Path, message: string, whole = 'body'): FieldError =>
  fieldError(path.length === 0 ? whole : pathText(path), message);

/** Checks a value against its schema. @throws Refusal INVALID_REQUEST with everything that is wrong with it */
export function checked<T extends z.ZodType>(schema: T, input: unknown, whole: string): z.output<T> {
  const { value, issues } = parseShape(schema, input);
  if (issues === undefined) return value;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    const [example] = (schema.meta()?.examples as readonly unknown[] | undefined) ?? [];
    const such = example === undefined ? '' : ` such as ${JSON.stringify(example)}`;
    throw invalidField(whole, `must be a JSON object${such}`);
  }
  const { shown, more } = reported(issues);
  throw invalidRequest(
    shown.map(({ path, message }) => inWords(path, message, whole)),
    more,
  );
}

export const controlValidatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (input) => {
    try {
      return { value: checked(schema, input ?? undefined, partName(httpPart)) };
    } catch (error) {
      return { error: error as FastifyError };
    }
  };
