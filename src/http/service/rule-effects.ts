import type { FastifyReply } from 'fastify';
import { Refusal } from '../../contract/errors.ts';
import { durationText } from '../../contract/times.ts';
import { sendText } from '../refusals.ts';
import { tcpSocketOf } from '../server-options.ts';
import type { Fault } from '../../scenario/rule.ts';
import type { Decided, KeptRequest, SeenEffect } from '../../world/journal/kept-request.ts';
import type { WallClock } from '../../worlds/wall-clock.ts';
import type { World } from '../../worlds/world.ts';

/** What a rule orders for a response: that it is held until somebody releases it, that it comes late, or over a broken connection. */

/**
 * How a wait ended. 'due': its timer fired; 'over': `isOver` holds; 'left': the client disconnected; 'reset': the world was
 * reset or restored; 'ended': the world was dropped, or the sandbox stops.
 */
type WaitEnd = 'due' | 'over' | 'left' | 'reset' | 'ended';

/**
 * Holds a response back. Once it is over, nothing of it is left: no timer, no listener, no place in the world.
 *
 * @param ms wall time; null for as long as the client stays
 * @param isOver whether the held requests of the world are such that the wait is over
 */
export const waitUntil = (
  ms: number | null,
  reply: FastifyReply,
  wallClock: WallClock,
  isOver = (): boolean => false,
): Promise<WaitEnd> =>
  new Promise((resolve) => {
    const { exchange, raw } = reply.request;
    const { world } = exchange;
    const { socket } = raw;
    let cancelTimer = (): void => undefined;
    let unregister = (): void => undefined;
    const finish = (how: WaitEnd): void => {
      cancelTimer();
      unregister();
      socket.off('close', left);
      resolve(how);
    };
    const left = (): void => finish('left');
    if (socket.destroyed) return left();
    if (isOver()) return finish('over');
    socket.on('close', left);
    if (ms !== null) cancelTimer = wallClock.schedule(wallClock.nowMs() + ms, () => finish('due'));
    unregister = world.connections.wait((why) => {
      if (why !== 'held') finish(why);
      else if (isOver()) finish('over');
    });
  });

type Hold = NonNullable<Decided['hold']>;

/**
 * Waits until a held request is released.
 *
 * @param first what was known when it was held
 * @returns what its client gets; null when the client has left
 * @throws Refusal NOT_RELEASED when nobody releases it in time, and when its world or the sandbox ends
 */
export async function untilReleased(
  first: Decided,
  reply: FastifyReply,
  wallClock: WallClock,
): Promise<Decided | null> {
  const { world } = reply.request.exchange;
  const hold = first.hold!;
  const { id, forMs } = hold;
  let request: KeptRequest | undefined; // as it was when its wait ended; undefined once its world was reset
  const isOver = (): boolean => {
    const { held, requests } = world.latest;
    if (held.waiting.some((one) => one.id === id)) return false;
    request = requests.pending.find(({ requestId }) => requestId === first.requestId);
    return true;
  };
  const how = await waitUntil(forMs, reply, wallClock, isOver);
  if (how === 'left') await world.submit({ kind: 'endHold', id, how: 'left' });
  else if (how === 'due') await world.submit({ kind: 'endHold', id, how: 'expired' });
  else if (how === 'ended') await endOfWorld(world, id);
  if (how !== 'over') isOver();
  if (request?.answer !== undefined && request.hold === undefined) return request as Decided;
  if (how === 'left') return null;
  throw notReleased(hold, first.rule!, how === 'ended' || request !== undefined ? how : 'reset');
}

/** Ends a hold as the sandbox stops; a world that is gone has none. */
async function endOfWorld(world: World, id: number): Promise<void> {
  try {
    await world.submit({ kind: 'endHold', id, how: 'expired' });
  } catch {
    // the world has ended
  }
}

function notReleased({ id, forMs }: Hold, rule: string, how: WaitEnd): Refusal {
  const why = {
    reset: 'its world was reset or restored meanwhile',
    ended: 'its world was dropped or the sandbox stopped meanwhile',
  }[how as string];
  const held = `The rule ${rule} held this request`;
  return new Refusal('NOT_RELEASED', {
    message: why
      ? `${held}, and ${why}`
      : `${held} for ${durationText(forMs)}, and nobody released it: POST /_sandbox/held/${id}/release`,
    rule,
    ...(how === 'ended' && { headers: { connection: 'close' } }),
  });
}

interface FaultContext {
  /** The status and the headers of the response, which Fastify does not send any more. */
  readonly reply: FastifyReply;
  readonly body: string;
  readonly garbage: readonly number[];
  /** Waits, for a time or for as long as the client stays. */
  readonly wait: (ms: number | null) => Promise<WaitEnd>;
}

const SLOW_BEAT_MS = 100;

/** Starts a response that promises `length` bytes of body. */
function writeHead({ reply }: FaultContext, length: number): void {
  const headers = reply.getHeaders() as NodeJS.Dict<string>;
  reply.raw.writeHead(reply.statusCode, { ...headers, 'content-length': String(length) });
}

/** Half of the body that was promised, then the end of the connection. An empty body is promised a byte that never comes. */
function truncated(context: FaultContext): void {
  const { raw } = context.reply;
  const body = Buffer.from(context.body);
  writeHead(context, Math.max(body.length, 1));
  raw.write(body.subarray(0, body.length >> 1), () => raw.req.socket.destroySoon());
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A complete answer with broken JSON: the last character is missing, or, if that would still parse, there is one too many. */
function malformed(context: FaultContext): void {
  const whole = Buffer.from(context.body);
  const cut = whole.subarray(0, -1);
  const body = parses(cut.toString()) ? Buffer.concat([whole, Buffer.from('}')]) : cut;
  writeHead(context, body.length);
  context.reply.raw.end(body);
}

/**
 * A status line without a status, the same for the same request. It begins as one and it ends, since some clients take
 * other bytes for a response in HTTP/0.9, and bytes without a line end for no response at all.
 */
function garbage({ reply, garbage }: FaultContext): void {
  const { socket } = reply.raw.req;
  const line = `HTTP/1.1 ${String.fromCharCode(...garbage)}\r\n\r\n`;
  socket.write(line, 'latin1', () => socket.destroySoon());
}

/** The whole response, at so many bytes a second, for as long as the client reads. */
async function slow(context: FaultContext, bytesPerSecond: number): Promise<void> {
  const { raw } = context.reply;
  const body = Buffer.from(context.body);
  const chunk = Math.max(1, Math.round((bytesPerSecond * SLOW_BEAT_MS) / 1000));
  const beatMs = (chunk / bytesPerSecond) * 1000;
  writeHead(context, body.length);
  raw.flushHeaders();
  for (let sent = 0; sent < body.length; sent += chunk) {
    const how = await context.wait(beatMs);
    if (how === 'left') return;
    if (how === 'reset' || how === 'ended') {
      // the rest at once; its head did not announce the end of the connection, so that ends only with the world or the sandbox
      raw.end(body.subarray(sent), how === 'ended' ? () => raw.req.socket.destroySoon() : undefined);
      return;
    }
    raw.write(body.subarray(sent, sent + chunk));
  }
  raw.end();
}

/** Breaks a connection as a rule orders. From here on, nothing else may write to the response. */
async function breakWire(fault: Fault, context: FaultContext): Promise<void> {
  const { raw } = context.reply;
  const { socket } = raw.req;
  if (socket.destroyed) return;
  raw.once('error', () => socket.destroy()); // Fastify no longer listens to a response that it handed over
  switch (fault.kind) {
    case 'connection-reset':
      tcpSocketOf(socket).resetAndDestroy();
      return;
    case 'empty-response':
      socket.destroySoon();
      return;
    case 'truncated-body':
      return truncated(context);
    case 'malformed-json':
      return malformed(context);
    case 'garbage':
      return garbage(context);
    case 'hang':
      await context.wait(fault.for);
      socket.destroySoon();
      return;
    case 'slow-body':
      return slow(context, fault.bytes_per_second);
  }
}

/** Sends a response as a rule orders: late, or over a broken connection. The money has moved already; only the response waits. */
export async function applyEffect(
  { delayMs, fault, garbage }: SeenEffect,
  body: string,
  reply: FastifyReply,
  wallClock: WallClock,
): Promise<FastifyReply> {
  const { exchange } = reply.request;
  const wait = (ms: number | null) => waitUntil(ms, reply, wallClock);
  if (delayMs > 0) {
    const how = await wait(delayMs);
    if (how === 'left') return reply.hijack();
    if (how === 'ended' || how === 'reset') void reply.header('connection', 'close'); // sent at once, as the last response on its connection
  }
  if (fault === null) return sendText(reply, body);
  void reply.hijack();
  exchange.breaking(fault.kind, fault.kind !== 'hang');
  await breakWire(fault, { reply, body, garbage, wait });
  return reply;
}
