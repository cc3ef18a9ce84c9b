import { z } from 'zod';
import { HeldId, HeldQuery, MAX_HELD, ReleaseRequest } from '../../contract/control.ts';
import type { HeldResponse } from '../../contract/control-responses.ts';
import { durationText } from '../../contract/times.ts';
import { Refusal } from '../../contract/errors.ts';
import { counted } from '../../contract/words.ts';
import { heldRequestResponse } from '../../world/events.ts';
import type { HeldRequest, HeldRequests } from '../../world/state-shape.ts';
import { operation, type ControlRoutes } from '../routes.ts';
import { waitUntil } from '../service/rule-effects.ts';

const heldResponse = ({ waiting, expired }: HeldRequests): HeldResponse => ({
  held: waiting.map(heldRequestResponse),
  expired: expired.map(heldRequestResponse),
});

/** `initiate order-1` */
function textOf(request: HeldRequest): string {
  const { route, client_ref_id: reference, txn_id: txnId } = heldRequestResponse(request);
  return `${route} ${reference ?? txnId ?? ''}`.trim();
}

/** `2 (initiate order-1, status order-1)` */
const heldText = (requests: readonly HeldRequest[]): string =>
  requests.length === 0 ? 'none' : `${requests.length} (${requests.map(textOf).join(', ')})`;

const expiredError = ({ expired }: HeldRequests): Refusal =>
  new Refusal('NOT_RELEASED', {
    message: `Nobody released these held requests in time, so their clients got 504: ${heldText(expired)}. POST /_sandbox/reset starts again`,
  });

/** The requests that rules hold, and their release. */
export const heldRoutes: ControlRoutes = async (app, { wallClock }) => {
  app.get(
    '/held',
    operation('Held requests', 'listHeld', 'The requests that wait to be released', {
      description:
        'With `count`, the response comes once that many are held. It is a 409 if that takes longer than `within`, and a 504 if one was not released in time.',
      errors: ['NOT_RELEASED', 'TOO_FEW_HELD'],
      querystring: HeldQuery,
    }),
    async ({ query: { count, within }, exchange: { world } }, reply) => {
      const dueMs = wallClock.nowMs() + within;
      for (;;) {
        const held = await world.read((state) => state.held);
        if (count === undefined) return heldResponse(held);
        if (held.expired.length > 0) throw expiredError(held);
        if (held.waiting.length >= count) return heldResponse(held);
        const isChanged = (): boolean => world.latest.held !== held;
        const how = await waitUntil(Math.max(0, dueMs - wallClock.nowMs()), reply, wallClock, isChanged);
        if (how === 'left') return void reply.hijack();
        if (how === 'over') continue;
        const waited = how === 'due' ? `after ${durationText(within)}` : 'when the world was reset or ended';
        throw new Refusal('TOO_FEW_HELD', {
          message: `Expected ${counted(count, 'held request')}; ${waited} there were ${heldText(held.waiting)}. Does a rule with effect: { hold } match the requests?`,
        });
      }
    },
  );

  app.post(
    '/held/:id/release',
    operation('Held requests', 'releaseHeld', 'Release a held request', {
      description: `A world holds at most ${MAX_HELD} requests.`,
      errors: ['HELD_NOT_FOUND'],
      params: z.object({ id: HeldId }),
      body: ReleaseRequest,
    }),
    async ({ params, body, exchange: { world } }) => {
      const id = Number(params.id);
      if (!Number.isSafeInteger(id)) throw new Refusal('HELD_NOT_FOUND');
      const order = { respond: body?.respond ?? null, fault: body?.fault ?? null };
      return heldRequestResponse(await world.submit({ kind: 'release', id, order }));
    },
  );
};
