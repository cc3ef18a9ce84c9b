import { MAX_HELD } from '../../contract/control.ts';
import { Refusal } from '../../contract/errors.ts';
import { oneMore } from '../../payout/payout.ts';
import type { Effect } from '../../scenario/rule.ts';
import type { Handler } from '../commands.ts';
import type { StateEvent } from '../events.ts';
import type { Decided } from '../journal/kept-request.ts';
import type { RequestCommand } from './request-commands.ts';
import type { HeldRequest, Released, WorldState } from '../state-shape.ts';

const EXPIRED_KEPT = 10;

/** The refusal in a world that already holds as many requests as it may; null while there is room. */
export function noRoomToHold({ held }: WorldState): Refusal | null {
  if (held.waiting.length < MAX_HELD) return null;
  return new Refusal('SANDBOX_FULL', {
    message: `This world already holds ${MAX_HELD} requests, the most that it can: release some with POST /_sandbox/held/ID/release`,
    limit: `${MAX_HELD} held requests`,
  });
}

/** Begins to hold a request. @param effect that of the rule that holds it */
export function holdRequest(
  state: WorldState,
  command: RequestCommand,
  request: Decided,
  effect: Effect,
  events: StateEvent[],
): void {
  const { made, waiting, expired } = state.held;
  const hold = request.hold!;
  const held: HeldRequest = {
    ...hold,
    effect,
    request,
    untilMs: state.wallMs + hold.forMs,
    command: hold.at === 'arrived' ? command : null,
  };
  state.held = { made: oneMore(made), waiting: [...waiting, held], expired };
  events.push({ type: 'held', request: held });
}

/** Ends a wait. */
export function endWait(state: WorldState, request: HeldRequest, how: Released, events: StateEvent[]): void {
  const { made, waiting, expired } = state.held;
  const done = how === 'expired' ? [...expired, { ...request, command: null }] : expired;
  state.held = {
    made,
    waiting: waiting.filter(({ id }) => id !== request.id),
    expired: done.slice(-EXPIRED_KEPT),
  };
  events.push({ type: 'released', request, how });
}

/** Ends the wait of a request that nobody released. No-op if it has ended. */
export const endHold: Handler<'endHold'> = (state, { id, how }, { events }) => {
  const request = state.held.waiting.find((known) => known.id === id);
  if (request !== undefined) endWait(state, request, how, events);
};

/** Expires overdue waits. The server of the connection does so in time, unless it has died. */
export function expireHeld(state: WorldState, events: StateEvent[]): void {
  for (const request of state.held.waiting) {
    if (request.untilMs <= state.wallMs) endWait(state, request, 'expired', events);
  }
}

/** @throws Refusal HELD_NOT_FOUND */
export function findHeld({ held }: WorldState, id: number): HeldRequest {
  const request = held.waiting.find((known) => known.id === id);
  if (request !== undefined) return request;
  const ids = held.waiting.map((known) => known.id);
  const others = ids.length === 0 ? 'none is held' : `those that are held are ${ids.join(', ')}`;
  const why =
    id > held.made
      ? 'no held request has had this id, which is not its number in the journal'
      : 'it was released, or expired, or its client left, or the world was reset';
  throw new Refusal('HELD_NOT_FOUND', { message: `Request ${id} is not held: ${why}; ${others}` });
}
