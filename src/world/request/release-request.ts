import type { Handler } from '../commands.ts';
import type { KeptRequest } from '../journal/kept-request.ts';
import { conclude, replace, type Filling } from '../requests.ts';
import type { WorldState, HeldRequest } from '../state-shape.ts';
import { recordLate } from './late-commit.ts';
import { endWait, findHeld } from './held-requests.ts';
import type { RequestCommand } from './request-commands.ts';
import { drawOf, factsOf, type Plan } from './request-plan.ts';
import { serve } from './serve-request.ts';

/**
 * Releases a held request: one that has only arrived is served now, with the rule that was taken when it arrived. The client sees
 * what that rule says, unless the order of the release says otherwise.
 */
export const releaseRequest: Handler<'release', HeldRequest> = (state, { id, order }, context) => {
  const held = findHeld(state, id);
  const { command, request } = held;
  const released: Filling = { ...request, hold: undefined };
  if (command !== null) serve(state, command, released, resumedPlan(state, command, held), context);
  const effect = request.effect!;
  released.effect = {
    ...effect,
    respond: order.respond ?? effect.respond,
    fault: order.fault ?? effect.fault,
  };
  conclude(released);
  replace(state, { ...released, ...committedMeanwhile(state, request) });
  recordLate(state);
  endWait(state, held, 'released', context.events);
  return held;
};

/** What a late commit has made of a request while it was held. */
function committedMeanwhile({ requests: { pending } }: WorldState, { nth }: KeptRequest) {
  const known = pending.find((one) => one.nth === nth);
  if (known?.commit == null) return {};
  const { commit, committed, txnId, plannedBy } = known;
  return { commit, committed, txnId, plannedBy };
}

/** The plan of a request that was counted when it arrived, with the rule that was taken then. */
function resumedPlan(state: WorldState, command: RequestCommand, { effect, request }: HeldRequest): Plan {
  const scenario = state.index.active;
  const { attempt = 0 } = request;
  const rule = { id: request.rule!, effect };
  const facts = factsOf(state, command, attempt, scenario);
  const draw = drawOf(command, scenario, attempt);
  return { scenario, rule, facts, draw, attempt, delayMs: 0, limitLeftMs: null }; // the client sees what was decided when it arrived
}
