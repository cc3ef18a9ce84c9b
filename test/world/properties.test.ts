import type { Payout } from '../../src/contract/snapshot.ts';
import fc from 'fast-check';

import { expect, test } from 'vitest';
import { brokenInvariants } from '../../src/world/ledger.ts';
import type { KeptRequest } from '../../src/world/journal/kept-request.ts';
import { journalEntry } from '../../src/world/journal/journal-entry.ts';
import { sized } from '../support/size.ts';
import { acts, anyAct, anyOutcomes, anyRules, anyWork, ENTANGLED, run } from '../support/world/commands.ts';
import { advance, Core, loadFile, save, START_MS } from '../support/world/core.ts';

/** How many histories each property is tried with. */
const OFTEN = { numRuns: sized(30, 200) };

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** A payout without the number of the request that told its client of it: that depends on the order of all requests. */
const withoutNumber = (payout: Payout) => ({
  ...payout,
  told: payout.told && { ...payout.told, request: null },
});

/** What does not hold of the money of a world, counted again from its entries and payouts. */
function wrongMoney({ state }: Core): readonly string[] {
  const { entries, payouts, wallet } = state;
  const moved = (...kinds: readonly string[]) =>
    sum(entries.filter(({ kind }) => kinds.includes(kind)).map(({ amountPaise }) => amountPaise));
  const out = payouts.filter(({ state }) => state === 'PENDING' || state === 'SUCCESS');
  const utrs = payouts.map(({ utr }) => utr).filter((utr) => utr !== null);
  const isReturned = ({ txnId, state }: Payout): boolean =>
    entries.filter((entry) => entry.txnId === txnId && entry.kind === 'refund').length ===
    (state === 'FAILED' || state === 'REVERSED' ? 1 : 0);
  const checks: readonly (readonly [string, boolean])[] = [
    [
      'balance = opening + credits - debits - out',
      wallet.balancePaise ===
        moved('opening', 'credit', 'debit') - sum(out.map(({ amountPaise }) => amountPaise)),
    ],
    ['the entries add up', sum(entries.map(({ amountPaise }) => amountPaise)) === wallet.balancePaise],
    ['entries are in order of time', entries.every(({ atMs }, nth) => atMs >= (entries[nth - 1]?.atMs ?? 0))],
    ['money is returned once, and only of what failed or was reversed', payouts.every(isReturned)],
    ['no UTR is given twice', new Set(utrs).size === utrs.length],
  ];
  return [...brokenInvariants(state), ...checks.filter(([, holds]) => !holds).map(([what]) => what)];
}

test('money is conserved after every command, whatever is asked, and whenever', () => {
  fc.assert(
    fc.property(acts(anyAct), (history) => {
      const world = new Core(ENTANGLED);
      run(world, history, 0, () => expect(wrongMoney(world)).toEqual([]));
    }),
    OFTEN,
  );
  expect(wrongMoney(new Core())).toEqual([]);
});

const requests = fc.array(
  fc.record({
    client_ref_id: fc.constantFrom('order-1', 'order-2', 'order-3', 'order-4', 'order-5'),
    amount: fc.constantFrom(1, 25.5),
    transfer_mode: fc.constantFrom('IMPS', 'NEFT'),
    isRead: fc.boolean(),
    place: fc.nat(1_000_000),
  }),
  { maxLength: 40, size: 'max' },
);

test('any outcomes and any rules: money is conserved, and requests end the same in whatever order references come, if the balance covers all', () => {
  fc.assert(
    fc.property(anyOutcomes, anyRules, requests, (outcomes, rules, list) => {
      const dialect = { client_ref_id: { same_body: 'stored', changed_body: 'second_payout' } } as const;
      const end = (order: typeof list) => {
        const world = new Core(
          { outcomes, rules, dialect },
          { openingBalancePaise: 1e8, settlement: 'demo' },
        );
        for (const { client_ref_id, amount, transfer_mode, isRead } of order)
          if (isRead) world.read(client_ref_id);
          else world.pay(client_ref_id, { amount, transfer_mode });
        expect(wrongMoney(world)).toEqual([]);
        world.submit(advance({ until: 'idle' }));
        expect(wrongMoney(world)).toEqual([]);
        const { payouts, wallet, entries } = world.state;
        const byName = (one: Payout, other: Payout): number =>
          one.clientRefId.localeCompare(other.clientRefId) || one.nth - other.nth;
        return { payouts: payouts.toSorted(byName).map(withoutNumber), wallet, entries: entries.length };
      };
      // shuffled, but each reference keeps the order of its own requests
      const own = new Map(
        list.map(({ client_ref_id: of }) => [of, list.filter((one) => one.client_ref_id === of)]),
      );
      const shuffled = list.toSorted((one, other) => one.place - other.place);
      expect(end(shuffled.map(({ client_ref_id }) => own.get(client_ref_id)!.shift()!))).toEqual(end(list));
    }),
    OFTEN,
  );
});

test('one long wait equals the same wait cut anywhere, whether time passes or a clock is moved', () => {
  fc.assert(
    fc.property(acts(anyWork), fc.array(fc.nat(4000)), fc.boolean(), (history, cuts, isMoved) => {
      const end = (stops: readonly number[]) => {
        const world = new Core(ENTANGLED);
        run(
          world,
          history.map((act) => ({ ...act, waitMs: 0 })),
        );
        for (const ms of stops.toSorted((a, b) => a - b)) {
          if (isMoved) world.submit(advance({ toMs: START_MS + ms }));
          else world.submit({ kind: 'settle' }, ms);
        }
        return { changes: world.changes, saved: save(world.state) };
      };
      expect(end([...cuts, 4000])).toEqual(end([4000]));
    }),
    OFTEN,
  );
});

/** A request as readers of events see it: a snapshot has the text of its response instead of what that is made from. No state that a reset ended. */
const asSent = (_name: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if ('undoPoints' in value) return null;
  return 'requestId' in value ? journalEntry(value as KeptRequest) : value;
};

/** A world of its own in the same state, as a restart leaves it. */
function restarted({ state, position }: Core): Core {
  const world = new Core();
  Object.assign(world.state, loadFile(save(state)), { generation: state.generation });
  return Object.assign(world, { position });
}

test('after any commands, a world restored from its snapshot continues byte for byte', () => {
  fc.assert(
    fc.property(acts(anyAct), acts(anyAct), (past, future) => {
      const world = new Core(ENTANGLED);
      run(world, past);
      const fork = restarted(world);
      expect(save(fork.state)).toEqual(save(world.state));
      const wallMs = world.state.wallMs - START_MS;
      const [expected, actual] = [world, fork].map((core) =>
        JSON.stringify(run(core, future, wallMs), asSent),
      );
      expect(actual).toBe(expected);
      expect(save(fork.state)).toEqual(save(world.state));
    }),
    OFTEN,
  );
});
