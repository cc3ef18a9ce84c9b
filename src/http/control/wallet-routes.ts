import { z } from 'zod';
import { EntriesQuery, MoneyRequest, TransactionsQuery, TransitionRequest } from '../../contract/control.ts';
import { toPaise } from '../../payout/money.ts';
import { entryResponse, moneyResponse } from '../../world/events.ts';
import { findPayout, unknownTxnId } from '../../world/ledger.ts';
import { entriesPage, payoutsPage } from '../../world/pages.ts';
import { nowMs } from '../../world/state.ts';
import { transactionResponse } from '../../world/transaction-response.ts';
import { operation, act, type ControlRoutes } from '../routes.ts';
import type { WorldState } from '../../world/state-shape.ts';
import { inSteps } from '../../world/steps.ts';
import { walletResponse } from './world-responses.ts';

function* entriesIn(state: WorldState, query: z.output<typeof EntriesQuery>) {
  const { items, next } = entriesPage(state, query);
  return { entries: yield* inSteps(items, entryResponse), next };
}

function* payoutsIn(state: WorldState, query: z.output<typeof TransactionsQuery>) {
  const { items, next } = payoutsPage(state, query);
  const atMs = nowMs(state);
  return { transactions: yield* inSteps(items, (payout) => transactionResponse(payout, atMs)), next };
}

/** The money of a world and its payouts. */
export const walletRoutes: ControlRoutes = async (app, { heavy }) => {
  app.get('/wallet', operation('Wallet', 'getWallet', 'The money of this world'), ({ exchange: { world } }) =>
    world.read(walletResponse),
  );

  for (const [direction, summary, error] of [
    ['credit', 'Put money into the wallet', 'WALLET_FULL'],
    ['debit', 'Take money out of the wallet', 'INSUFFICIENT_BALANCE'],
  ] as const) {
    app.post(
      `/wallet/${direction}`,
      operation('Wallet', `${direction}Wallet`, summary, { errors: [error], body: MoneyRequest }),
      async ({ body, exchange }) =>
        moneyResponse(await act(exchange, { kind: direction, amountPaise: toPaise(body.amount) })),
    );
  }

  app.get(
    '/wallet/entries',
    operation('Wallet', 'listEntries', 'The ledger entries that explain the balance', {
      querystring: EntriesQuery,
    }),
    ({ query, exchange: { world } }) =>
      heavy.run(world, () => world.read((state) => entriesIn(state, query))),
  );

  app.get(
    '/transactions',
    operation('Wallet', 'listTransactions', 'Payouts, with timeline and reason', {
      querystring: TransactionsQuery,
    }),
    ({ query, exchange: { world } }) =>
      heavy.run(world, () => world.read((state) => payoutsIn(state, query))),
  );

  const named = z.object({ txn_id: z.string().describe("The service's transaction identifier") });

  app.get(
    '/transactions/:txn_id',
    operation('Wallet', 'getTransaction', 'One payout', {
      description: 'It does not count as a status read.',
      errors: ['TRANSACTION_NOT_FOUND'],
      params: named,
    }),
    ({ params: { txn_id: txnId }, exchange: { world } }) =>
      world.read((state) => {
        const payout = findPayout(state, { txnId });
        if (payout === undefined) throw unknownTxnId(txnId);
        return transactionResponse(payout, nowMs(state));
      }),
  );

  app.post(
    '/transactions/:txn_id/transition',
    operation('Wallet', 'forceTransition', 'Force a payout into a state', {
      description: "Accepts only legal transitions. The payout's scheduled steps are cancelled.",
      errors: ['TRANSACTION_NOT_FOUND', 'ILLEGAL_TRANSITION'],
      params: named,
      body: TransitionRequest,
    }),
    async ({ params: { txn_id: txnId }, body: { to }, exchange }) =>
      transactionResponse(
        await act(exchange, { kind: 'transition', txnId, to }),
        nowMs(exchange.world.latest),
      ),
  );
};
