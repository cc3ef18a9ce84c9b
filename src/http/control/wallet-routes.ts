import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { EntriesQuery, MoneyRequest, TransactionsQuery, TransitionRequest } from '../../contract/control.ts';
import {
  EntriesAnswer,
  MoneyAnswer,
  Transaction as TransactionAnswer,
  TransactionsAnswer,
  WalletAnswer,
} from '../../contract/control-answers.ts';
import { MAX_AMOUNT_INR, type State } from '../../contract/payout.ts';
import { Refusal } from '../../contract/errors.ts';
import { toInr, toPaise } from '../../payout/money.ts';
import { legalNext, type Transaction } from '../../payout/payout.ts';
import type { World } from '../../log/world.ts';
import type { PageRequest } from '../../ledger/ledger.ts';
import { entryWire, transactionWire, walletAnswer } from './world-answers.ts';

const USUAL_LIMIT = 100;

interface ListQuery {
  readonly order?: 'newest' | 'oldest' | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: number | undefined;
}

const pageOf = ({ order, limit, cursor }: ListQuery): PageRequest => ({
  from: cursor ?? null,
  newestFirst: order !== 'oldest',
  limit: limit ?? USUAL_LIMIT,
});

async function move(world: World, direction: 'credit' | 'debit', amountInr: number): Promise<MoneyAnswer> {
  const outcome = await world.book.perform((ledger, book, nowMs) =>
    ledger.move(book, nowMs, direction, toPaise(amountInr)),
  );
  const { balancePaise } = outcome;
  if (outcome.kind === 'refused') {
    if (direction === 'debit') {
      throw new Refusal('INSUFFICIENT_BALANCE', {
        message: `The wallet holds INR ${toInr(balancePaise)}, less than the INR ${amountInr} to take out`,
      });
    }
    throw new Refusal('WALLET_FULL', {
      message: `The wallet takes no more than INR ${MAX_AMOUNT_INR} in all, and holds INR ${toInr(balancePaise)}`,
    });
  }
  const answer = { balance: toInr(balancePaise), entry: entryWire(outcome.entry) };
  world.events.publish('wallet', () => answer);
  return answer;
}

const unknown = (txnId: string): Refusal =>
  new Refusal('TRANSACTION_NOT_FOUND', { message: `This world has no transaction ${txnId}` });

function illegal({ txnId, state }: Transaction, to: State): Refusal {
  const legal = legalNext(state);
  return new Refusal('ILLEGAL_TRANSITION', {
    message: `${txnId} is ${state} and cannot go to ${to}: ${legal.length === 0 ? 'that is its end' : `it can go to ${legal.join(' or ')}`}`,
    errors: [
      {
        field: 'to',
        message: `to must be ${legal.length === 0 ? 'left alone' : `one of ${legal.join(', ')}`}`,
      },
    ],
  });
}

/** The money of a world and its payouts. */
export const walletRoutes: FastifyPluginAsyncZod = async (app) => {
  app.get(
    '/wallet',
    {
      schema: {
        operationId: 'getWallet',
        summary: 'The money of this world',
        tag: 'Wallet',
        response: { 200: WalletAnswer },
      },
    },
    async ({ world }) =>
      walletAnswer(await world.book.perform((ledger, book, nowMs) => ledger.summary(book, nowMs))),
  );

  for (const direction of ['credit', 'debit'] as const) {
    app.post(
      `/wallet/${direction}`,
      {
        schema: {
          operationId: `${direction}Wallet`,
          summary: direction === 'credit' ? 'Put money into the wallet' : 'Take money out of the wallet',
          tag: 'Wallet',
          errors: [direction === 'credit' ? 'WALLET_FULL' : 'INSUFFICIENT_BALANCE'],
          body: MoneyRequest,
          response: { 200: MoneyAnswer },
        },
      },
      ({ body, world }) => move(world, direction, body.amount),
    );
  }

  app.get(
    '/wallet/entries',
    {
      schema: {
        operationId: 'listEntries',
        summary: 'Why the balance is what it is',
        tag: 'Wallet',
        querystring: EntriesQuery,
        response: { 200: EntriesAnswer },
      },
    },
    async ({ query, world }) => {
      const { items, next } = await world.book.perform((ledger, book, nowMs) =>
        ledger.entries(book, nowMs, query.txn_id ?? null, pageOf(query)),
      );
      return { entries: items.map(entryWire), next };
    },
  );

  app.get(
    '/transactions',
    {
      schema: {
        operationId: 'listTransactions',
        summary: 'Payouts, with timeline and reason',
        tag: 'Wallet',
        querystring: TransactionsQuery,
        response: { 200: TransactionsAnswer },
      },
    },
    async ({ query, world }) => {
      const filter = { state: query.status, clientRefId: query.client_ref_id };
      const { items, next } = await world.book.perform((ledger, book, nowMs) =>
        ledger.transactions(book, nowMs, filter, pageOf(query)),
      );
      const { nowMs } = world;
      return { transactions: items.map((transaction) => transactionWire(transaction, nowMs)), next };
    },
  );

  const named = z.object({
    txn_id: z.string().meta({ description: "The service's transaction identifier" }),
  });

  app.get(
    '/transactions/:txn_id',
    {
      schema: {
        operationId: 'getTransaction',
        summary: 'One payout',
        tag: 'Wallet',
        description: 'No status read is counted.',
        errors: ['TRANSACTION_NOT_FOUND'],
        params: named,
        response: { 200: TransactionAnswer },
      },
    },
    async ({ params: { txn_id: txnId }, world }) => {
      const { items } = await world.book.perform((ledger, book, nowMs) =>
        ledger.transactions(book, nowMs, { txnId }, pageOf({})),
      );
      if (items[0] === undefined) throw unknown(txnId);
      return transactionWire(items[0], world.nowMs);
    },
  );

  app.post(
    '/transactions/:txn_id/transition',
    {
      schema: {
        operationId: 'forceTransition',
        summary: 'Force a payout into a state',
        tag: 'Wallet',
        description: 'Along legal edges only. What was planned for it is called off.',
        errors: ['TRANSACTION_NOT_FOUND', 'ILLEGAL_TRANSITION'],
        params: named,
        body: TransitionRequest,
        response: { 200: TransactionAnswer },
      },
    },
    async ({ params: { txn_id: txnId }, body: { to }, world }) => {
      const utr = to !== 'FAILED' || world.scenario.dialect.status.utr_of_failed === 'set';
      const outcome = await world.book.perform((ledger, book, nowMs) =>
        ledger.transition(book, nowMs, txnId, to, utr),
      );
      if (outcome.kind === 'unknown') throw unknown(txnId);
      if (outcome.kind === 'illegal') throw illegal(outcome.transaction, to);
      return transactionWire(outcome.transaction, world.nowMs);
    },
  );
};
