import { z } from 'zod';
import type { ServiceCallInit, ServiceResponse } from '../client/control-client.ts';
import type { PayoutInput } from '../client/controlled-world.ts';
import { State } from '../contract/service.ts';
import { rupees } from '../contract/words.ts';
import { action, type Session } from './sandbox-action.ts';
import { amount, reference, text, wholeNumber } from './arguments.ts';
import { cellOf, stateColour } from './text-output.ts';

/** The fields of a payout. Those that are not given are those of a valid IMPS payout of ₹1,000. */
export const PAYOUT = {
  amount: amount('INR [default 1000]').optional(),
  reference: text('its client_ref_id [default payout-1, payout-2 and so on]').optional(),
  mode: text('IMPS, NEFT, RTGS or UPI', 'mode').optional(),
  account: text('the account; a magic one forces a response', 'number').optional(),
  ifsc: text('the IFSC of that account', 'code').optional(),
  name: text('the name of the beneficiary', 'name').optional(),
  remarks: z.string().optional().meta({ description: 'the remarks', title: 'text' }),
};

type Payout = z.output<z.ZodObject<typeof PAYOUT>>;

/** Only the given fields: the sandbox refuses wrong ones as it would for a client. */
export function payoutOf({ reference: id, mode, account, ifsc, name, ...same }: Payout): PayoutInput {
  const fields = {
    ...same,
    client_ref_id: id,
    transfer_mode: mode,
    beneficiary_account: account,
    beneficiary_ifsc: ifsc,
    beneficiary_name: name,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Editors wait a minute for a tool, and people less. */
const PATIENCE_MS = 8000;

/** What the client got, or why it got nothing. */
type Outcome = Omit<ServiceResponse, 'headers' | 'status'> & {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly error?: string;
};

const NOTHING = { client_ref_id: null, txn_id: null, status: null, headers: {}, body: null } as const;

async function sent(
  { world, signal }: Session,
  send: (init: ServiceCallInit) => Promise<ServiceResponse>,
): Promise<Outcome> {
  await world.summary(); // distinguishes a sandbox that is not running from a connection that a rule breaks
  const late = AbortSignal.timeout(PATIENCE_MS);
  try {
    const response = await send({ signal: signal === undefined ? late : AbortSignal.any([late, signal]) });
    return { ...response, headers: Object.fromEntries(response.headers) };
  } catch (error) {
    if (signal?.aborted) throw error;
    const why = late.aborted ? `no response within ${PATIENCE_MS / 1000} s` : (error as Error).message;
    return { ...NOTHING, error: `${why}; the journal says why, and payouts whether a payout was made` };
  }
}

/** A rule may respond anything. */
interface ServiceBody {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly data?: Readonly<Record<string, unknown>>;
}

const bodyOf = ({ body }: Outcome): ServiceBody => (typeof body === 'object' && body !== null ? body : {});

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const TELLING_HEADERS = [
  ['rule', 'x-sandbox-rule'],
  ['warning', 'x-sandbox-warning'],
  ['replayed', 'idempotent-replayed'],
  ['retry after', 'retry-after'],
] as const;

function outcomeLines(outcome: Outcome, { paint }: Session): readonly string[] {
  const { status, headers, error, client_ref_id: id, txn_id: txnId } = outcome;
  if (error !== undefined) return [error];
  const { data, code, message } = bodyOf(outcome);
  const word = textOf(data?.['status'] ?? code ?? '');
  const state = State.safeParse(word).data;
  const money = data?.['amount'] ?? data?.['balance'];
  const facts = [
    String(status),
    word === '' ? '' : paint(cellOf(word).text, state === undefined ? 'red' : stateColour(state)),
    id ?? '',
    data === undefined ? textOf(message ?? '') : '',
    typeof money === 'number' ? rupees(money) : '',
    txnId ?? '',
    typeof data?.['utr'] === 'string' ? `UTR ${data['utr']}` : '',
  ];
  return [
    facts.filter((fact) => fact !== '').join('  '),
    ...TELLING_HEADERS.flatMap(([name, header]) =>
      headers[header] === undefined ? [] : [paint(`  ${name}: ${headers[header]}`, 'dim')],
    ),
  ];
}

const isRefused = (outcome: Outcome): boolean => outcome.status !== 200 || bodyOf(outcome).data === undefined;

export const serviceActions = [
  action({
    name: 'pay',
    summary: 'initiate a payout, as a client would',
    details:
      'The defaults make a valid payout of ₹1,000 by IMPS. Sending a reference again is a retry. Rules and faults apply.',
    effect: 'changes',
    input: {
      ...PAYOUT,
      times: wholeNumber('how many payouts to make, one after the other', 1, 1000).optional(),
    },
    words: ['amount'],
    async run({ times, ...payout }, session) {
      const pay = () => sent(session, (init) => session.world.pay(payoutOf(payout), init));
      if (times === undefined) return pay();
      const outcomes: Outcome[] = [];
      while (outcomes.length < times) outcomes.push(await pay());
      return outcomes;
    },
    lines: (made, session) => [made].flat().flatMap((one) => outcomeLines(one, session)),
    hasFailed: (made) => [made].flat().some(isRefused),
  }),
  action({
    name: 'read',
    summary: 'read the status of a payout, as a client would',
    details:
      'Counts as a status read by the client: steps with `polls` advance, and the client then knows the state.',
    effect: 'changes',
    input: { reference: reference.optional(), txn: text('its txn_id', 'id').optional() },
    words: ['reference'],
    run: ({ reference: id, txn }, session) => {
      const query = new URLSearchParams({
        ...(id !== undefined && { client_ref_id: id }),
        ...(txn !== undefined && { txn_id: txn }),
      });
      return sent(session, (init) =>
        session.control.service({ path: `/payout/status?${query.toString()}`, ...init }),
      );
    },
    lines: outcomeLines,
    hasFailed: isRefused,
  }),
  action({
    name: 'balance',
    summary: 'read the balance of the wallet, as a client would',
    effect: 'changes',
    run: (_input, session) =>
      sent(session, (init) => session.control.service({ path: '/client/fetchbalance', ...init })),
    lines: outcomeLines,
    hasFailed: isRefused,
  }),
];
