import type { FastifyError, FastifySchema, FastifySchemaCompiler } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { invalidField, invalidRequest, type RefusalCode } from '../contract/errors.ts';
import { inWords, parseShape, reported } from '../contract/shape-issues.ts';
import type { Change } from '../payout/payout.ts';
import type { Referee } from '../referee/referee.ts';
import type { ScenarioLibrary } from '../scenario/scenario-library.ts';
import type { Command } from '../world/commands.ts';
import type { WallClock } from '../worlds/wall-clock.ts';
import type { Worlds } from '../worlds/worlds.ts';
import type { TokenReader } from './admission.ts';
import type { HttpExchange } from './http-exchange.ts';
import type { HeavyWork } from './limits/heavy-work.ts';
import type { Pressure } from './limits/pressure.ts';
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

export interface ControlOptions {
  readonly wallClock: WallClock;
  readonly heavy: HeavyWork;
  readonly pressure: Pressure;
  readonly worlds: Worlds;
  readonly scenarios: ScenarioLibrary;
  readonly referee: Referee;
  readonly keyOf: TokenReader;
  readonly requireAdmin: TokenReader;
  readonly version: string;
  /** The connection to the store of the worlds; undefined without one. */
  readonly store: { readonly isAway: boolean; readonly wasReached: boolean } | undefined;
  /** All metrics in Prometheus' text format; null when metrics are off. */
  readonly metricsText: (() => Promise<string>) | null;
  /** The OpenAPI document of all routes, as JSON text. */
  readonly openapi: () => Promise<string>;
  /** All files of the dashboard by their paths; none if it was not built. */
  readonly pageFiles: () => ReadonlyMap<
    string,
    { readonly type: string; readonly body: Buffer; readonly etag: string }
  >;
}

/** Carries out a control action of a request. The response says how an undo can name it. @param onChanges called with its steps, part by part */
export const act = <C extends Command>(
  { world, reply }: HttpExchange,
  command: C,
  onChanges?: (changes: readonly Change[]) => void,
) =>
  world.submit(command, (part) => {
    if (part.kind !== 'refused' && part.action !== undefined)
      void reply.header('x-sandbox-action', part.action);
    onChanges?.(part.events.flatMap((event) => (event.type === 'settlement' ? [event.change] : [])));
  });

export type ControlRoutes = FastifyPluginAsyncZod<ControlOptions>;
