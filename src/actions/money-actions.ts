import { z } from 'zod';
import type { ReleaseOrder, HeldRequest } from '../client/controlled-world.ts';
import type {
  EntriesResponse,
  MoneyResponse,
  TransactionResponse,
  TransactionsResponse,
} from '../contract/control-responses.ts';
import { State } from '../contract/service.ts';
import { istSecond } from '../contract/times.ts';
import { rupees, signedRupees } from '../contract/words.ts';
import { SettingsError } from '../settings.ts';
import { amount, flag, limit, reference, text, wholeNumber } from './arguments.ts';
import { action, type Session } from './sandbox-action.ts';
import { olderLines, stateColour, table } from './text-output.ts';

/** What happens to a payout next: its next step, or why there is none. */
function nextText({ timeline, hidden_by: hiddenBy }: TransactionResponse): string {
  const step = timeline.find(({ done }) => !done);
  const hidden = hiddenBy === null ? '' : `; hidden by ${hiddenBy}`;
  if (step === undefined) return hidden.slice(2);
  const due = step.at === null ? 'after the year 9999' : istSecond(step.at);
  const when = step.polls === null ? due : `at status read ${step.polls}`;
  return `${step.to ?? 'UTR'} ${when}${hidden}`;
}

/** A page of a list as a table, the newest last. @param empty what stands in place of an empty one */
const pageLines = (
  headings: readonly string[],
  rows: Parameters<typeof table>[1],
  next: number | null,
  empty: string,
  { paint, nameOf }: Session,
): readonly string[] => [...table(headings, rows, paint, empty), ...olderLines(next, nameOf('limit'))];

function payoutLines({ transactions, next }: TransactionsResponse, session: Session): readonly string[] {
  const rows = transactions
    .toReversed()
    .map((payout) => [
      istSecond(payout.created_at),
      payout.client_ref_id,
      { text: rupees(payout.amount), isRight: true },
      payout.transfer_mode,
      { text: payout.status, colour: stateColour(payout.status) },
      payout.utr ?? '',
      nextText(payout),
      { text: payout.txn_id, colour: 'dim' as const },
    ]);
  const headings = ['created (IST)', 'reference', 'amount', 'mode', 'state', 'UTR', 'next (IST)', 'txn_id'];
  return pageLines(headings, rows, next, 'this world has no such payout', session);
}

const heldText = ({ id, at, route, client_ref_id: clientRefId, txn_id: txnId, rule }: HeldRequest): string =>
  `held as ${id}: ${[route, clientRefId ?? txnId ?? ''].join(' ').trim()}, ${at}, by ${rule}`;

const moneyLines = ({ entry, balance }: MoneyResponse): readonly string[] => [
  `${signedRupees(entry.amount)}: the balance is ${rupees(balance)}`,
];

const entryLines = ({ entries, next }: EntriesResponse, session: Session): readonly string[] => {
  const rows = entries
    .toReversed()
    .map(({ at, kind, amount: moved, balance, txn_id: txnId }) => [
      istSecond(at),
      kind,
      { text: signedRupees(moved), isRight: true },
      { text: rupees(balance), isRight: true },
      { text: txnId ?? '', colour: 'dim' as const },
    ]);
  const headings = ['at (IST)', 'entry', 'amount', 'balance', 'txn_id'];
  return pageLines(headings, rows, next, 'this world has no such entry', session);
};

/** Unlike a flag that is false by default, it selects nothing unless it is given. */
const only = (which: string) => z.boolean().optional().describe(`only ${which}`);

export const moneyActions = [
  action({
    name: 'payouts',
    summary: 'list the payouts with their states and next steps',
    details:
      "The JSON also has each payout's timeline, the reason for its state and what the client was told.",
    effect: 'reads',
    input: {
      reference: text('only with this client_ref_id').optional(),
      status: text('only in this state: PENDING, SUCCESS, FAILED or REVERSED', 'state').optional(),
      at_risk: only('payouts that hold money and that no response has shown the client'),
      out_of_date: only('payouts in a final state that the client has not seen'),
      limit,
    },
    run: ({ reference: id, ...query }, { control }) =>
      control.get<TransactionsResponse>('/transactions', { ...query, client_ref_id: id }),
    lines: payoutLines,
  }),
  action({
    name: 'force',
    summary: 'force a payout into a state now',
    details:
      'PENDING can become SUCCESS, FAILED or REVERSED, and SUCCESS can become REVERSED. Its scheduled steps are cancelled.',
    effect: 'changes',
    input: {
      reference,
      state: State.exclude(['PENDING']).meta({ description: 'the state', title: 'state' }),
    },
    words: ['reference', 'state'],
    async run({ reference: id, state }, { world }) {
      const { txn_id: txnId } = await world.payout(id);
      return world.transition(txnId, state);
    },
    lines: ({ client_ref_id: id, status, amount }, { paint }) => [
      `${id} is ${paint(status, stateColour(status))}: ${rupees(amount)}`,
    ],
  }),
  action({
    name: 'held',
    summary: 'list the requests that rules hold, in order of arrival',
    effect: 'reads',
    input: {
      count: wholeNumber('wait until this many are held', 1, 100).optional(),
      within: text('how long to wait for them [default 10s]', 'time').optional(),
    },
    run: ({ count, within }, { world }) => world.held(count, within === undefined ? {} : { within }),
    lines: (held) => (held.length === 0 ? ['no request is held'] : held.map(heldText)),
  }),
  action({
    name: 'release',
    summary: 'release a request that a rule holds; without its number, all of them',
    effect: 'changes',
    input: {
      number: wholeNumber('its number in the list of held requests').optional(),
      status: wholeNumber('the client gets this HTTP status instead of the response', 200, 599).optional(),
      fault: text('the client gets this fault instead, such as connection-reset', 'fault').optional(),
    },
    words: ['number'],
    async run({ number, status, fault }, { world, nameOf }) {
      if (status !== undefined && fault !== undefined) {
        throw new SettingsError(`release takes ${nameOf('status')} or ${nameOf('fault')}, not both`);
      }
      const held = (await world.held()).filter(({ id }) => number === undefined || id === number);
      const order = { respond: status && { status }, fault } as ReleaseOrder;
      for (const request of held) await request.release(order);
      return { released: held.map((request) => request.id) };
    },
    lines: ({ released }) => [
      released.length === 0 ? 'no such request is held' : `released ${released.join(', ')}`,
    ],
    hasFailed: ({ released }) => released.length === 0,
  }),
  action({
    name: 'fund',
    summary: 'put money into the wallet of a world, or take it out without a payout',
    effect: 'changes',
    input: {
      amount: amount('INR, at most 2 decimals'),
      withdraw: flag('take this amount out of the wallet instead'),
    },
    words: ['amount'],
    run: ({ amount: inr, withdraw }, { world }) => (withdraw ? world.withdraw(inr) : world.fund(inr)),
    lines: moneyLines,
  }),
  action({
    name: 'entries',
    summary: 'list the ledger entries that explain the balance',
    effect: 'reads',
    input: { txn: text('only those of this txn_id', 'id').optional(), limit },
    run: ({ txn, ...query }, { control }) =>
      control.get<EntriesResponse>('/wallet/entries', { ...query, txn_id: txn }),
    lines: entryLines,
  }),
];
