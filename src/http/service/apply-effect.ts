import type { FastifyReply } from 'fastify';
import type { SeenEffect } from '../../world/request/response.ts';
import type { SendContext } from '../limits/unread-responses.ts';
import { sendText } from '../refusals.ts';
import { breakWire, waitUntil } from './wire-faults.ts';

/** Sends a response as a rule orders: late, or over a broken connection. The money has moved already; only the response waits. */
export async function applyEffect(
  { delayMs, fault, garbage }: SeenEffect,
  body: string,
  reply: FastifyReply,
  { wallClock, unread }: SendContext,
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
  if (fault.kind !== 'hang') unread.wait(reply.raw, body.length);
  await breakWire(fault, { reply, body, garbage, wait });
  return reply;
}
