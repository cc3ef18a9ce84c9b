import type { FastifyReply } from 'fastify';
import { durationText } from '../../contract/duration.ts';
import { Refusal } from '../../contract/errors.ts';
import type { WallClock } from '../../worlds/wall-clock.ts';
import type { World } from '../../worlds/world.ts';
import type { Decided, KeptRequest } from '../../world/journal/kept-request.ts';
import { waitUntil, type WaitEnd } from './wire-faults.ts';

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
