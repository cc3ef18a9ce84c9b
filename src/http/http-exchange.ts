import type { SentResponse } from '../contract/snapshot.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { textField, withoutKeys } from '../contract/service.ts';
import type { RefusalData } from '../contract/errors.ts';
import type { Dialect } from '../contract/dialect.ts';
import type { RouteName } from '../contract/match.ts';
import type { World } from '../worlds/world.ts';
import type { BodyReader } from './json-bodies.ts';
import type { Decided, RequestOutcome } from '../world/journal/kept-request.ts';
import type { End, Received, RequestCommand } from '../world/request/request-commands.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What is known of this request so far. The only property that the sandbox adds to a request or a reply. */
    exchange: HttpExchange;
  }
}

/** The path without its query, which may hold anything. */
export const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0]!;

/**
 * One request and its response, from the first hook to the log line: made when the request comes, filled in by
 * each step, and finished when the response or its connection closes.
 */
export class HttpExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly route: RouteName | undefined;
  dialect: Dialect;
  /** The world of its key. Set by the first hook of the routes that have one. */
  world!: World;
  /** The name that its client gives the world. */
  name: string | undefined;
  /** Reads the body, where that began before the request was handled. */
  body: BodyReader | undefined;
  /** The body as it came, without a byte order mark. */
  bodyText: string | undefined;
  /** Why a bank might refuse the payout. */
  warnings: readonly string[] | undefined;
  decided: Decided | undefined;
  /** Why it was refused; set with the response that says so. */
  refusal: RefusalData | undefined;
  /** The fault that breaks its connection, once that begins. */
  fault: string | undefined;
  /** Whether only a debug log shows it. */
  isQuiet = false;
  /** How it ended; set when its connection is done with it, even if the server is still working on it. */
  outcome: Exclude<RequestOutcome, 'pending'> | undefined;
  durationMs = 0;
  readonly #stopwatchMs: () => number;
  readonly #startedMs: number;
  /** The latest command of its world that was applied when it arrived, and when it ended. */
  #arrivedAfter = 0;
  #endedAfter = 0;
  /** How long it took until its response was about to be written. */
  #writtenMs: number | undefined;
  /** Which request of its world it is, once that is known; 0 before. */
  #nth = 0;
  /** The life of the world that gave it this number. */
  #epoch = '';
  #isSubmitted = false;
  #isSent = false;
  /** The limit that ended its connection, where one did before its response was sent. */
  #endedBy: string | undefined;
  /** The response, where it is not the one that the world planned. */
  #unplanned: End['refused'];

  constructor(request: FastifyRequest, reply: FastifyReply, dialect: Dialect, stopwatchMs: () => number) {
    this.request = request;
    this.reply = reply;
    this.route = request.routeOptions?.config?.name; // Fastify makes the options anew each time
    this.dialect = dialect;
    this.#stopwatchMs = stopwatchMs;
    this.#startedMs = stopwatchMs();
  }

  /** The request has found its world, which its server keeps until `close`. */
  found(world: World): void {
    this.world = world;
    this.#arrivedAfter = world.position;
    if (this.outcome === undefined) world.enter();
    // its client left in the middle of its body, while a store was asked for the world: nothing more happens to it
    else if (this.route !== undefined && !this.request.raw.complete) this.#ended();
  }

  /** What its world keeps of the request. */
  received(): Received {
    const { request } = this;
    return {
      requestId: request.id,
      method: request.method,
      url: request.url,
      headers: withoutKeys(request.headers) as Received['headers'],
      body: this.bodyText,
      warnings: this.warnings,
      waitedMs: Math.floor(this.#elapsedMs()),
      after: this.#arrivedAfter,
      worldName: this.name,
    };
  }

  /** Has the world carry it out. */
  async submit(command: RequestCommand): Promise<Decided> {
    this.#isSubmitted = true;
    const decided = await this.world.submit(command);
    this.decide(decided);
    this.#nth = decided.nth;
    this.#epoch = this.world.epoch;
    if (this.outcome !== undefined) this.#ended(); // it ended while the store was asked
    return decided;
  }

  /** Reads the dialect of a refusal anew where another server may have changed it. @returns null when it is up to date */
  readDialect(): Promise<void> | null {
    const { world, route } = this;
    const isOfService = world !== undefined && route !== undefined;
    if (!isOfService || this.#isSubmitted) return null;
    const read = async (): Promise<void> => {
      this.dialect = await world.read(({ index }) => index.base.dialect);
    };
    return read().catch(() => undefined); // the store is unavailable: the latest that is known
  }

  decide(decided: Decided): void {
    this.decided = decided;
    this.dialect = decided.dialect;
  }

  /** Called with a response before its first byte is sent. */
  sending(body: string): void {
    if (this.outcome !== undefined) return; // nobody waits for it any more
    this.#writtenMs = this.#elapsedMs();
    if (this.world === undefined || this.route === undefined) return;
    const { refusal, reply } = this;
    if (this.#isSubmitted && refusal === undefined && !reply.hasHeader('connection')) return; // the planned one
    const response = {
      status: reply.statusCode,
      headers: reply.getHeaders() as SentResponse['headers'],
      body: this.request.method === 'HEAD' ? '' : body,
    };
    const { limit, rule } = refusal?.details ?? {};
    this.#unplanned = { response, code: this.code, limit, rule };
  }

  /** The fault of a rule begins. @param isShown whether the client sees any of the response */
  breaking(fault: string, isShown: boolean): void {
    this.fault = fault;
    if (isShown && this.outcome === undefined) this.#isSent = true;
  }

  /** The connection is done with the request. @param limit the one that ended the connection, if one did */
  close(outcome: Exclude<RequestOutcome, 'pending'>, limit: string | undefined): void {
    this.outcome = outcome;
    if (outcome === 'fault' && limit !== undefined) {
      this.#endedBy = limit;
      this.#unplanned = { limit };
    }
    // a client may have its response, and act on it, before a busy server notices that it was sent
    this.durationMs = (outcome === 'answered' ? this.#writtenMs : undefined) ?? this.#elapsedMs();
    if (this.world === undefined) return;
    this.#endedAfter = this.world.position;
    this.#isSent ||= this.reply.raw.headersSent;
    if (this.route !== undefined) this.#ended();
    this.world.leave();
  }

  /** Says how it ended, unless its world is about to carry it out. */
  #ended(): void {
    const { world, route } = this;
    const end: End = {
      outcome: this.outcome!,
      durationMs: this.durationMs,
      after: this.#endedAfter,
      isSent: this.#isSent,
      refused: this.#unplanned,
    };
    if (!this.#isSubmitted) {
      const clientRefId = this.named('client_ref_id');
      const request = this.received();
      world.inBackground(world.submit({ kind: 'refused', route: route!, request, clientRefId, end }));
    } else if (this.#nth > 0 && world.epoch === this.#epoch) {
      // in another life, it is the number of another request
      const isAtOnce = this.outcome === 'answered' && this.decided?.waits === undefined;
      world.end({ request: this.#nth, ...end }, !isAtOnce || this.#unplanned !== undefined);
    }
  }

  #elapsedMs(): number {
    return Math.round((this.#stopwatchMs() - this.#startedMs) * 100) / 100;
  }

  /** A field that the request names, if its text is one that a payout could have. */
  named(field: string): string | undefined {
    const { body, query } = this.request;
    const fields = (this.route === 'initiate' ? body : query) as
      | Readonly<Record<string, unknown>>
      | null
      | undefined;
    return textField(fields?.[field]);
  }

  get code() {
    return this.refusal?.code ?? this.decided?.code;
  }

  get limit() {
    return this.#endedBy ?? this.refusal?.details.limit ?? this.decided?.limit;
  }

  /** The status that was sent; undefined when nothing was. */
  get status(): number | undefined {
    const { raw } = this.reply;
    return raw.headersSent ? raw.statusCode : undefined;
  }
}
