import type { Payout } from '../../contract/snapshot.ts';
import type { Dialect } from '../../contract/dialect.ts';
import { durationMs } from '../../contract/times.ts';
import { Refusal, type RefusalCode } from '../../contract/errors.ts';
import { InitiateRequest } from '../../contract/service.ts';
import { digest, keptRemarks, shortDigest } from '../../payout/identity.ts';
import { toPaise } from '../../payout/money.ts';
import { asOf } from '../../payout/timeline.ts';
import type { CommandOf, Context } from '../commands.ts';
import type { Answer, Decided, KeptRequest } from '../journal/kept-request.ts';
import { findPayout } from '../ledger.ts';
import { nowMs } from '../state.ts';
import type { WorldState } from '../state-shape.ts';
import { codeOf } from './other-responses.ts';
import { responseOf } from './response.ts';

/** What an initiate gets whose client_ref_id was sent before, as the dialect wants it. */

/** What an initiate repeats. */
interface Repetition {
  /** The latest payout of the reference, unless its reference has expired. */
  readonly earlier: Payout | undefined;
  /** The response that is kept for this body, if that was not simply the new payout. */
  readonly stored: WorldState['stored'][number] | undefined;
  readonly isSame: boolean;
  readonly choice: Exclude<Dialect['client_ref_id']['same_body' | 'changed_body'], 'second_payout'>;
}

/** What an initiate repeats, and what the dialect makes of that; null for one that makes a payout of its own. */
export function repetitionOf(
  state: WorldState,
  body: InitiateRequest,
  { client_ref_id: rows }: Dialect,
): Repetition | null {
  const { client_ref_id: clientRefId } = body;
  const validMs = rows.valid_for === null ? Infinity : durationMs(rows.valid_for)!;
  const isValid = (atMs: number): boolean => nowMs(state) - atMs < validMs;
  const payout = findPayout(state, { clientRefId });
  const last =
    rows.same_body === 'stored' ? state.stored[state.index.stored.get(clientRefId) ?? -1] : undefined;
  const isLatest = last !== undefined && last.nth === (payout?.nth ?? 0); // no payout was made since
  const stored = isLatest && isValid(last.atMs) ? last : undefined;
  const earlier = payout !== undefined && isValid(payout.createdAtMs) ? payout : undefined;
  if (stored === undefined && earlier === undefined) return null;
  const isStored = stored !== undefined && stored.body === bodyDigest(body);
  const isSame = isStored || (earlier !== undefined && isSameBody(earlier, body));
  const choice = isSame ? rows.same_body : rows.changed_body;
  if (choice === 'second_payout') return null;
  return { earlier, stored: isStored || earlier === undefined ? stored : undefined, isSame, choice };
}

/**
 * What an initiate gets that repeats another, or one whose reference is still being worked on; null for one that may pay.
 *
 * @param request its number
 * @throws Refusal DUPLICATE_REFERENCE, REFERENCE_CONFLICT, REFERENCE_REUSED or REQUEST_IN_PROGRESS
 */
export function answerRepetition(
  state: WorldState,
  body: InitiateRequest,
  dialect: Dialect,
  request: number,
): Answer | null {
  if (dialect.client_ref_id.in_flight === 409 && isInFlight(state, body.client_ref_id, request))
    throw new Refusal('REQUEST_IN_PROGRESS');
  const repetition = repetitionOf(state, body, dialect);
  if (repetition === null) return null;
  const { earlier, isSame, choice } = repetition;
  if (typeof choice === 'number') throw refused(choice, earlier, isSame);
  return replay(repetition);
}

/** What a repetition shows unless it is refused. */
export const replay = ({ earlier, stored, choice }: Repetition): Answer =>
  stored !== undefined
    ? { kind: 'stored', stored }
    : {
        kind: 'payout',
        payout: choice === 'first_answer' || choice === 'stored' ? asOf(earlier!, -Infinity) : earlier!,
        replayed: true,
      };

const CODES: Readonly<Record<400 | 409 | 422, RefusalCode>> = {
  400: 'DUPLICATE_REFERENCE',
  409: 'REFERENCE_CONFLICT',
  422: 'REFERENCE_REUSED',
};

function refused(status: 400 | 409 | 422, earlier: Payout | undefined, isSame: boolean): Refusal {
  const which = earlier === undefined ? '' : ` (${earlier.txnId})`;
  return new Refusal(CODES[status], {
    message: `This client_ref_id was used before${isSame ? '' : ', for another payout'}${which}`,
    errors: [
      {
        field: 'client_ref_id',
        message: `client_ref_id was used before, with ${isSame ? 'the same' : 'other'} values`,
      },
    ],
  });
}

/** Whether a payout is what this body asks for. */
const isSameBody = (payout: Payout, body: InitiateRequest): boolean =>
  payout.amountPaise === toPaise(body.amount) &&
  payout.transferMode === body.transfer_mode &&
  payout.beneficiaryName === body.beneficiary_name &&
  payout.beneficiaryAccount === body.beneficiary_account &&
  payout.beneficiaryIfsc === body.beneficiary_ifsc &&
  payout.remarks === keptRemarks(body.remarks);

/** The same for the same values of all fields of the interface. */
const bodyDigest = (body: InitiateRequest): string =>
  shortDigest(
    digest(Object.keys(InitiateRequest.shape).map((field) => body[field as keyof InitiateRequest] ?? null)),
  );

/** Whether an earlier initiate of a reference is held, delayed, hanging or to be committed late, as was planned for it. When its end became known does not matter. */
function isInFlight({ requests, held, late, wallMs }: WorldState, clientRefId: string, request: number) {
  const isEarlier = (one: KeptRequest): boolean =>
    one.nth < request && one.route === 'initiate' && one.clientRefId === clientRefId;
  return (
    late.some(({ request: nth, body }) => nth < request && body.client_ref_id === clientRefId) ||
    held.waiting.some(({ request }) => isEarlier(request)) ||
    requests.pending.some((one) => isEarlier(one) && one.response !== undefined && busyUntilMs(one) > wallMs)
  );
}

/** Wall time until which a request that is not held is worked on. */
function busyUntilMs({ wallMs, delayMs = 0, fault, effect }: KeptRequest): number {
  const planned = effect?.fault;
  const hangMs = fault !== 'hang' ? 0 : planned?.kind === 'hang' ? (planned.for ?? Infinity) : Infinity;
  return wallMs + delayMs + hangMs;
}

/** The statuses that providers do not keep: the request was not accepted as one. */
const NEVER_STORED: ReadonlySet<number> = new Set([400, 401, 413, 429]);

/** Keeps the response to the first initiate of a reference if it is a 402 or that of a rule. Any other can be made from the payout. */
export function storeAnswer(
  state: WorldState,
  { body }: CommandOf<'initiate'>,
  request: Decided,
  { transactionsFree }: Context,
): void {
  const { answer, effect, committed, dialect } = request;
  const refusal = answer.kind === 'refused' ? answer.refusal.code : undefined;
  const isOfRule = effect !== null && effect.respond !== null;
  if (!isOfRule && refusal !== 'INSUFFICIENT_BALANCE') return;
  if (!committed && repetitionOf(state, body, dialect) !== null) return;
  if (transactionsFree - Number(committed) <= 0) return;
  const { status, headers, body: text } = responseOf(request);
  if (NEVER_STORED.has(status)) return;
  const { client_ref_id: clientRefId } = body;
  const own = Object.entries(headers).filter(([name]) => !name.startsWith('x-sandbox-'));
  const response = { status, headers: Object.fromEntries(own), body: text };
  const nth = findPayout(state, { clientRefId })?.nth ?? 0;
  const code = isOfRule ? codeOf(effect.respond) : refusal;
  const stored = { clientRefId, nth, atMs: nowMs(state), body: bodyDigest(body), code, response };
  state.index.stored.set(clientRefId, state.stored.push(stored) - 1);
}
