import type { FastifyReply } from 'fastify';
import { durationText } from '../../contract/duration.ts';
import { Refusal } from '../../contract/errors.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import type { HeldRequest, Released, RequestResult } from '../../world/request/request-result.ts';
import { noteWait } from '../exchange-record.ts';
import { heldBack, type HeldUntil } from './wire-faults.ts';

/**
 * Waits until a held request is released.
 *
 * @param first what was known when it was held
 * @returns its result; null when the client has left
 * @throws Refusal NOT_RELEASED when nobody releases it in time, and when its world or the sandbox ends
 */
export async function untilReleased(
  first: RequestResult & { readonly hold: HeldRequest },
  reply: FastifyReply,
  wallClock: WallClock,
): Promise<RequestResult | null> {
  const { world } = reply.request;
  const { hold } = first;
  try {
    const how = await waitFor(hold, reply, wallClock);
    const end = (reason: 'expired' | 'left') => world.submit({ kind: 'endHold', id: hold.id, how: reason });
    if (how === 'left') await end('left');
    else if (how === 'due') await end('expired');
    else if (how === 'ended') await end('expired').catch(() => null); // a world that is gone has no holds
    const released = world.releases.of(hold.id);
    if (released?.how === 'released') return resultOf(first, released);
    if (how === 'left') return null;
    throw notReleased(hold, how);
  } finally {
    world.releases.forget(hold.id);
  }
}

async function waitFor(hold: HeldRequest, reply: FastifyReply, wallClock: WallClock): Promise<HeldUntil> {
  const { world } = reply.request;
  const dueMs = wallClock.nowMs() + hold.forMs;
  let isAnnounced = false;
  for (;;) {
    const { changed } = world.releases;
    if (world.releases.of(hold.id) !== null) return 'changed';
    const until = heldBack(dueMs - wallClock.nowMs(), reply, wallClock, changed); // first: a reset that comes now must find it
    if (!isAnnounced) await noteWait(reply); // so that readers of events see that it waits
    isAnnounced = true;
    const how = await until;
    if (how !== 'changed') return how;
  }
}

/** The result of a request, with the answer that its release orders. */
function resultOf(first: RequestResult, { order, result }: Released): RequestResult {
  const effect = first.effect!;
  return {
    ...(result ?? first),
    effect: { ...effect, respond: order.respond ?? effect.respond, fault: order.fault ?? effect.fault },
  };
}

function notReleased({ id, rule, forMs }: HeldRequest, how: HeldUntil): Refusal {
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
