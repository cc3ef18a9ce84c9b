import { Request, SentResponse } from '../../contract/snapshot.ts';
import { z } from 'zod';
import { RouteName } from '../../contract/match.ts';
import { InitiateRequest, StatusQuery } from '../../contract/service.ts';

/** A request of the service as it came: what its world keeps of it, without keys and with the body whole, and when it came. */
export const Received = Request.pick({
  requestId: true,
  method: true,
  url: true,
  headers: true,
  body: true,
  warnings: true,
}).extend({
  /** How long ago it arrived, in whole ms of the server's wall clock. */
  waitedMs: z.int().min(0),
  /** The place of the latest command of the world that its server had applied when it arrived. */
  after: z.int(),
  /** The name that its client gives the world. */
  worldName: z.string().optional(),
});
export type Received = Readonly<z.infer<typeof Received>>;

/** A response that the server made without the world, and why. */
const Refused = z.strictObject({
  /** Absent when the client had left. */
  response: SentResponse.optional(),
  code: z.string().optional(),
  limit: z.string().optional(),
  rule: z.string().optional(),
});
export type Refused = Readonly<z.infer<typeof Refused>>;

const End = z.strictObject({
  outcome: z.enum(['answered', 'fault', 'client_gone']),
  durationMs: z.number(),
  /** The place of the latest command of the world that its server had applied by then. */
  after: z.int(),
  /** Whether any of the response was sent. */
  isSent: z.boolean(),
  /** Set when the response was not the planned one. */
  refused: Refused.optional(),
});
export type End = Readonly<z.infer<typeof End>>;

/** How a request ended. */
export const Ended = End.extend({
  /** Which request of the world it is, counted from 1. */
  request: z.int(),
});
export type Ended = Readonly<z.infer<typeof Ended>>;

/** The commands that are requests of the service. */
export const REQUEST_COMMANDS = [
  z.strictObject({ kind: z.literal('initiate'), body: InitiateRequest, request: Received }),
  z.strictObject({ kind: z.literal('status'), query: StatusQuery, request: Received }),
  z.strictObject({ kind: z.literal('balance'), request: Received }),
] as const;

export type RequestCommand = z.infer<(typeof REQUEST_COMMANDS)[number]>;

/** A request that never reached the world, and has ended: its shape, its size, the server's limit, or its client left before. */
export const RefusedCommand = z.strictObject({
  kind: z.literal('refused'),
  route: RouteName,
  request: Received,
  clientRefId: z.string().optional(),
  end: End,
});
