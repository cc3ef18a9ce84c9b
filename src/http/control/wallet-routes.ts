import { z } from 'zod';
import { EntriesQuery, MoneyRequest, TransactionsQuery, TransitionRequest } from '../../contract/control.ts';
import {
  EntriesAnswer,
  MoneyAnswer,
  TransactionAnswer,
  TransactionsAnswer,
  WalletAnswer,
} from '../../contract/control-answers.ts';
import { toPaise } from '../../payout/money.ts';
import { entryAnswer, moneyAnswer } from '../../world/events.ts';
import { entriesPage, findPayout, type PageRequest, payoutsPage, unknownTxnId } from '../../world/ledger.ts';
import { nowMs } from '../../world/state.ts';
import { operation } from '../route-schemas.ts';
import type { ControlRoutes } from './control-options.ts';
import { transactionAnswer, walletAnswer } from './world-answers.ts';

const pageOf = ({ order, limit, cursor }: z.output<typeof TransactionsQuery>): PageRequest => ({
  from: cursor ?? null,
  newestFirst: order === 'newest',
  limit,
});

/** The money of a world and its payouts. */
export const walletRoutes: ControlRoutes = async (app) => {
  app.get(
    '/wallet',
    operation('Wallet', 'getWallet', 'The money of this world', WalletAnswer),
    ({ exchange: { world } }) => world.read(walletAnswer),
  );

  for (const [direction, summary, error] of [
    ['credit', 'Put money into the wallet', 'WALLET_FULL'],
    ['debit', 'Take money out of the wallet', 'INSUFFICIENT_BALANCE'],
  ] as const) {
    app.post(
      `/wallet/${direction}`,
      operation('Wallet', `${direction}Wallet`, summary, MoneyAnswer, {
        errors: [error],
        body: MoneyRequest,
      }),
      async ({ body, exchange: { world } }) =>
        moneyAnswer(await world.submit({ kind: direction, amountPaise: toPaise(body.amount) })),
    );
  }

  app.get(
    '/wallet/entries',
    operation('Wallet', 'listEntries', 'The ledger entries that explain the balance', EntriesAnswer, {
      querystring: EntriesQuery,
    }),
    async ({ query, exchange: { world } }) => {
      const { items, next } = await world.read((state) =>
        entriesPage(state, query.txn_id ?? null, pageOf(query)),
      );
      return { entries: items.map(entryAnswer), next };
    },
  );

  app.get(
    '/transactions',
    operation('Wallet', 'listTransactions', 'Payouts, with timeline and reason', TransactionsAnswer, {
      querystring: TransactionsQuery,
    }),
    ({ query, exchange: { world } }) =>
      world.read((state) => {
        const filter = {
          state: query.status,
          clientRefId: query.client_ref_id,
          isAtRisk: query.at_risk,
        };
        const { items, next } = payoutsPage(state, filter, pageOf(query));
        return { transactions: items.map((payout) => transactionAnswer(payout, nowMs(state))), next };
      }),
  );

  const named = z.object({
    txn_id: z.string().meta({ description: "The service's transaction identifier" }),
  });

  app.get(
    '/transactions/:txn_id',
    operation('Wallet', 'getTransaction', 'One payout', TransactionAnswer, {
      description: 'It does not count as a status read.',
      errors: ['TRANSACTION_NOT_FOUND'],
      params: named,
    }),
    ({ params: { txn_id: txnId }, exchange: { world } }) =>
      world.read((state) => {
        const payout = findPayout(state, { txnId });
        if (payout === undefined) throw unknownTxnId(txnId);
        return transactionAnswer(payout, nowMs(state));
      }),
  );

  app.post(
    '/transactions/:txn_id/transition',
    operation('Wallet', 'forceTransition', 'Force a payout into a state', TransactionAnswer, {
      description: 'Only legal transitions. The steps that were planned for the payout are cancelled.',
      errors: ['TRANSACTION_NOT_FOUND', 'ILLEGAL_TRANSITION'],
      params: named,
      body: TransitionRequest,
    }),
    async ({ params: { txn_id: txnId }, body: { to }, exchange: { world } }) =>
      transactionAnswer(await world.submit({ kind: 'transition', txnId, to }), world.nowMs),
  );
};
