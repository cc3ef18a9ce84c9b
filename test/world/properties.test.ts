import fc from 'fast-check';

import { expect, test } from 'vitest';
import type { Payout } from '../../src/contract/snapshot-lines.ts';
import { brokenInvariants } from '../../src/world/ledger.ts';
import { sized } from '../support/size.ts';
import { acts, anyAct, anyOutcomes, anyRules, anyWork, ENTANGLED, run } from '../support/world/commands.ts';
import { advance, Core, initiate, load, save, START_MS, status } from '../support/world/core.ts';

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

test('any outcomes and any rules: money is conserved, and the payouts of a parallel run are those of a serial one', () => {
  fc.assert(
    fc.property(
      anyOutcomes,
      anyRules,
      fc.array(fc.nat(1000), { minLength: 8, maxLength: 8 }),
      (outcomes, rules, at) => {
        const references = at.map((_, nth) => `order-${nth}`);
        const end = (order: readonly string[]) => {
          const world = new Core({ outcomes, rules }, { openingBalancePaise: 100_000, settlement: 'demo' });
          for (let attempt = 1; attempt <= 3; attempt += 1) {
            for (const reference of order) {
              world.pay(reference, { transfer_mode: reference.endsWith('1') ? 'NEFT' : 'IMPS' });
              world.submit(status({ client_ref_id: reference }));
            }
            expect(wrongMoney(world)).toEqual([]);
          }
          world.submit(advance({ until: 'idle' }));
          expect(wrongMoney(world)).toEqual([]);
          return world.state.payouts
            .toSorted((a, b) => a.clientRefId.localeCompare(b.clientRefId))
            .map(withoutNumber);
        };
        const shuffled = references.toSorted((a, b) => at[Number(a.slice(6))]! - at[Number(b.slice(6))]!);
        expect(end(shuffled)).toEqual(end(references));
      },
    ),
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

const COUNTS_ARRIVALS: ReadonlySet<string> = new Set(['busy', 'twice', 'stale', 'third']);

test('requests on a frozen clock end the same in whatever order they come, when the balance covers all', () => {
  const rules = ENTANGLED.rules!.filter(({ name }) => !COUNTS_ARRIVALS.has(name!));
  const outcomes = ENTANGLED.outcomes!.filter(({ name }) => !COUNTS_ARRIVALS.has(name!));
  const document = { ...ENTANGLED, outcomes, rules, wallet: { opening_balance: 1_000_000 } };
  const requests = fc.array(
    fc.record({
      client_ref_id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
      amount: fc.constantFrom(1, 25.5),
      mode: fc.constantFrom('IMPS' as const, 'NEFT' as const, 'UPI' as const),
      isRead: fc.boolean(),
      at: fc.nat(1_000_000),
    }),
    { maxLength: 40, size: 'max' },
  );
  fc.assert(
    fc.property(requests, (list) => {
      const end = (order: typeof list) => {
        const world = new Core(document, { clock: { frozenAtMs: START_MS } });
        for (const { client_ref_id, amount, mode: transfer_mode, isRead } of order) {
          world.submit(
            isRead ? status({ client_ref_id }) : initiate({ client_ref_id, amount, transfer_mode }),
          );
        }
        world.submit(advance({ until: 'idle' }));
        const byName = (one: Payout, other: Payout): number =>
          one.clientRefId.localeCompare(other.clientRefId) || one.nth - other.nth;
        const { payouts, wallet, entries } = world.state;
        return { payouts: payouts.toSorted(byName).map(withoutNumber), wallet, entries: entries.length };
      };
      // shuffled, but each reference keeps the order of its own requests
      const shuffled = list.toSorted((a, b) => a.at - b.at);
      const own = new Map(
        list.map(({ client_ref_id: of }) => [of, list.filter((one) => one.client_ref_id === of)]),
      );
      expect(end(shuffled.map(({ client_ref_id }) => own.get(client_ref_id)!.shift()!))).toEqual(end(list));
    }),
    OFTEN,
  );
});

/** A world of its own in the same state, as a restart leaves it. */
function restarted({ state, position }: Core): Core {
  const world = new Core();
  Object.assign(world.state, load(save(state)), { generation: state.generation });
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
      const [expected, actual] = [world, fork].map((core) => JSON.stringify(run(core, future, wallMs)));
      expect(actual).toBe(expected);
      expect(save(fork.state)).toEqual(save(world.state));
    }),
    OFTEN,
  );
});
