import { describe, expect, test } from 'vitest';
import { LATEST_MS, WORLD_ITEMS, WorldHead, type WorldItem } from '../../src/contract/snapshot-lines.ts';
import { brokenInvariants } from '../../src/world/ledger.ts';
import { takeSnapshot } from '../../src/world/snapshot.ts';
import { nowMs } from '../../src/world/state.ts';
import {
  advance,
  balance,
  Core,
  initiate,
  load,
  refusalOf,
  save,
  sourceOf,
  timelines,
  type Saved,
} from '../support/world/core.ts';
import { atRead, step } from '../support/world/payouts.ts';
import { sized } from '../support/size.ts';
import { testRows } from '../support/test-rows.ts';

/**
 * A world at 10 ms. Its payouts: 0 was reversed after its success, 1 failed, 2 waits for two steps by reads, 3 is the
 * second one of its reference, 4 succeeded at a read, and is to be reversed at 90 ms. It has a credit, a debit, a
 * remembered refusal, an override, and counters.
 */
function past(): Core {
  const world = new Core({
    ...timelines({
      p0: [
        { to: 'SUCCESS', after: '1ms' },
        { to: 'REVERSED', after: '2ms' },
      ],
      p1: [{ to: 'FAILED', after: '1ms' }],
      p2: [
        { to: 'SUCCESS', polls: 2 },
        { to: 'REVERSED', polls: 3 },
      ],
      p4: [
        { to: 'SUCCESS', polls: 1 },
        { to: 'REVERSED', after: '90ms' },
      ],
    }),
    settlement: { NEFT: [{ to: 'SUCCESS', after: '50ms' }] },
    dialect: { client_ref_id: { changed_body: 'second_payout', after_402: 'remember' } },
  });
  for (const reference of ['p0', 'p1', 'p2']) world.pay(reference);
  const source = sourceOf({
    settlement: { NEFT: [{ to: 'SUCCESS', after: '50ms' }] },
    dialect: { client_ref_id: { changed_body: 'second_payout' } },
  });
  const second = { client_ref_id: 'p1', beneficiary_account: '1', transfer_mode: 'NEFT' } as const;
  world.submit(initiate(second, { scenario: source }));
  world.pay('p4');
  const { attempts } = world.state;
  attempts.older = attempts.recent; // as when a world has counted many
  attempts.recent = new Map();
  world.pay('poor', { amount: 99 });
  world.submit({ kind: 'credit', amountPaise: 70 }, 3);
  world.submit({ kind: 'debit', amountPaise: 20 }, 3);
  world.read('p4', 4);
  world.submit({
    kind: 'putRule',
    rule: { name: 'top', match: { route: 'balance' }, effect: { delay: '1ms' } },
  });
  world.submit({
    kind: 'putRule',
    rule: { name: 'other', match: { route: 'balance', attempt: 5 }, effect: { delay: '1ms' } },
  });
  world.submit({
    kind: 'putRule',
    rule: { name: 'busy', match: { route: 'balance' }, effect: { limit: { max: 2, per: '1h' } } },
  });
  world.balance(10);
  return world;
}

type Loose<T> = T extends object ? { -readonly [K in keyof T]: Loose<T[K]> } : T;
type Item<Name extends keyof typeof WORLD_ITEMS> = Loose<Extract<WorldItem, Record<Name, unknown>>[Name]>;

/** A snapshot in the hand of somebody who changes it. */
class Tampered {
  readonly saved = structuredClone(save(past().state)) as Loose<Saved>;

  of<Name extends keyof typeof WORLD_ITEMS>(name: Name): Item<Name>[] {
    return this.saved.items
      .filter((item) => name in item)
      .map((item) => (item as Record<Name, Item<Name>>)[name]);
  }

  get head() {
    return this.saved.head;
  }

  payout(nth: number) {
    return this.of('payout')[nth]!;
  }

  entry(kind: string) {
    return this.of('entry').find((one) => one.kind === kind)!;
  }

  /** Writes one more entry, with nothing in it but what is said. */
  enter(change: Partial<Item<'entry'>>): void {
    const { items } = this.saved;
    const last = this.of('entry').at(-1)!;
    const entry = { ...last, kind: 'credit', amountPaise: 0, txnId: null, ...change };
    items.splice(this.of('entry').length, 0, { entry } as Loose<WorldItem>);
  }

  put(...items: object[]): void {
    for (const item of items) this.saved.items.push(item as Loose<WorldItem>);
  }

  drop(name: keyof typeof WORLD_ITEMS, nth: number): void {
    const found = this.saved.items.filter((item) => name in item)[nth]!;
    this.saved.items.splice(this.saved.items.indexOf(found), 1);
  }
}

test('a snapshot is the world, whole: it is plain data in its own shape, and reads as the same state', () => {
  const { state } = past();
  const saved = save(state);
  expect(state.payouts.map((one) => [one.state, one.nth, one.stepsDone])).toEqual([
    ['REVERSED', 1, 2],
    ['FAILED', 1, 1],
    ['PENDING', 1, 0],
    ['PENDING', 2, 0],
    ['SUCCESS', 1, 1],
  ]);
  expect([state.attempts.older.size > 0, state.attempts.recent.size > 0]).toEqual([true, true]);
  expect(WorldHead.parse(saved.head)).toEqual(saved.head);
  for (const item of saved.items) {
    const [[name, value]] = Object.entries(item) as [[keyof typeof WORLD_ITEMS, unknown]];
    expect(WORLD_ITEMS[name].parse(value)).toEqual(value);
  }
  expect(saved.items).toHaveLength(takeSnapshot(state).length);
  const read = load(saved);
  expect(save(read)).toEqual(saved);
  expect(brokenInvariants(read)).toEqual([]);
  expect(nowMs(read)).toBe(nowMs(state));
  const { generation: _, index: _index, requests: _requests, actions: _actions, ...same } = state;
  expect(read).toMatchObject(same);
  expect(read.index.tallies).toEqual(state.index.tallies);
  expect(read.index.atRisk).toEqual(state.index.atRisk);
  expect([...read.index.utrs].toSorted()).toEqual([...state.index.utrs].toSorted());
  expect(read.index.active.rules.map(({ id }) => id)).toEqual(state.index.active.rules.map(({ id }) => id));
});

test('a snapshot stays as it was taken, whatever happens before it is read', () => {
  const world = past();
  const snapshot = takeSnapshot(world.state);
  const then = save(world.state);
  world.submit({ kind: 'transition', txnId: world.payout('p2').txnId, to: 'FAILED' });
  world.pay('later', { amount: 1 });
  world.submit({ kind: 'removeRule', name: null });
  world.submit(balance(), 95);
  expect(JSON.parse(JSON.stringify([...snapshot.items]))).toEqual(then.items);
  expect(snapshot.head).toEqual(then.head);
});

const INVARIANT = 'it does not hold that';
const UNEXPLAINED = 'the entries do not explain the balance';
const OPENING = 'a ledger begins with its opening, and has one';

testRows<[what: string, why: string, tamper: (saved: Tampered) => void]>([
  // entries
  [
    'no entries',
    'no entry debits ',
    (saved) => {
      while (saved.of('entry').length > 0) saved.drop('entry', 0);
    },
  ],
  ['an opening in the middle', OPENING, (saved) => saved.enter({ kind: 'opening' })],
  ['something before the opening', OPENING, (saved) => void (saved.entry('opening').kind = 'credit')],
  ['a gap between entries', UNEXPLAINED, (saved) => saved.enter({ amountPaise: 1 })],
  ['an entry too few', UNEXPLAINED, (saved) => saved.drop('entry', 3)],
  ['the last entry missing', INVARIANT, (saved) => saved.drop('entry', saved.of('entry').length - 1)],
  ['an entry after the payouts', UNEXPLAINED, (saved) => saved.put({ entry: saved.of('entry').at(-1) })],
  ['a credit that takes', INVARIANT, (saved) => saved.enter({ amountPaise: -50, balancePaise: 700 })],
  [
    'a payment for a stranger',
    'an entry debits a payout that is not there',
    (saved) => saved.enter({ kind: 'payout', amountPaise: -1, balancePaise: 749, txnId: 'stranger' }),
  ],
  [
    'a refund to a stranger',
    'an entry refunds stranger, which is not there',
    (saved) => saved.enter({ kind: 'refund', amountPaise: 1, balancePaise: 751, txnId: 'stranger' }),
  ],
  [
    'a refund that came twice',
    'is refunded twice',
    (saved) =>
      saved.enter({ kind: 'refund', amountPaise: 100, balancePaise: 850, txnId: saved.payout(1).txnId }),
  ],
  [
    'a refund of another amount',
    'is SUCCESS, and the entries say otherwise',
    (saved) =>
      saved.enter({ kind: 'refund', amountPaise: 99, balancePaise: 849, txnId: saved.payout(4).txnId }),
  ],
  [
    'a refund of a payout under way',
    'is PENDING, and the entries say otherwise',
    (saved) =>
      saved.enter({ kind: 'refund', amountPaise: 100, balancePaise: 850, txnId: saved.payout(2).txnId }),
  ],
  [
    'money debited twice',
    'an entry debits a payout that is not there',
    (saved) =>
      saved.enter({ kind: 'payout', amountPaise: -100, balancePaise: 650, txnId: saved.payout(4).txnId }),
  ],
  [
    'a refund that names another payout of this amount',
    'is FAILED, and the entries say otherwise',
    (saved) => void (saved.entry('refund').txnId = saved.payout(4).txnId),
  ],
  [
    'a refund before its payout',
    'is FAILED, and the entries say otherwise',
    (saved) => {
      const { items } = saved.saved;
      const refund = items.findIndex((item) => 'entry' in item && item.entry.kind === 'refund');
      items.splice(1, 0, ...items.splice(refund, 1));
      let balancePaise = 0;
      for (const entry of saved.of('entry')) {
        balancePaise += entry.amountPaise;
        entry.balancePaise = balancePaise;
      }
    },
  ],
  [
    'a payment that names another payout of this amount',
    'no entry debits ',
    (saved) => void (saved.entry('payout').txnId = saved.payout(4).txnId),
  ],
  ['a credit that names a payout', 'only the entries', (saved) => void (saved.entry('credit').txnId = 'TXN')],
  // payouts
  ['a payout twice', 'is there twice', (saved) => saved.put({ payout: saved.payout(0) })],
  ['a payout too few', 'an entry debits a payout that is not there', (saved) => saved.drop('payout', 4)],
  [
    'a payout that nothing was paid for',
    'no entry debits TXN9',
    (saved) => saved.put({ payout: { ...saved.payout(4), txnId: 'TXN9', clientRefId: 'p9', utr: 'X' } }),
  ],
  [
    'a payout dearer than what was paid',
    'no entry debits ',
    (saved) => void (saved.payout(4).amountPaise += 1),
  ],
  [
    'a first payout that is the second',
    'p0 are not numbered without a gap',
    (saved) => void (saved.payout(0).nth = 2),
  ],
  [
    'a second payout that is the third',
    'of p1 are not numbered without a gap',
    (saved) => void (saved.payout(3).nth = 3),
  ],
  [
    'a second payout that is the first',
    'of p1 are not numbered without a gap',
    (saved) => void (saved.payout(3).nth = 1),
  ],
  [
    'a UTR of another payout',
    'is that of another payout',
    (saved) => void (saved.payout(4).utr = saved.payout(0).utr),
  ],
  // steps
  [
    'a payout that has not done its steps',
    'legal edges only',
    (saved) => void (saved.payout(0).stepsDone = 1),
  ],
  [
    'a payout with more steps done than it has',
    'more of its steps',
    (saved) => void (saved.payout(0).stepsDone = 3),
  ],
  [
    'an illegal edge ahead',
    'legal edges only',
    (saved) => void saved.payout(4).timeline.push(step('FAILED', 91)),
  ],
  // the wallet
  [
    'more money than its entries',
    'money put in|the newest entry',
    (saved) => void (saved.head.wallet.balancePaise += 1),
  ],
  ['money that nobody put in', 'balance \\+ PENDING', (saved) => void (saved.head.wallet.putInPaise += 1)],
  [
    'money that is out twice',
    'money out is in PENDING',
    (saved) => void (saved.head.wallet.paidOutPaise += 1),
  ],
  [
    'a balance that its entries do not show',
    'the newest entry shows the balance',
    (saved) => {
      saved.head.wallet.balancePaise += 1;
      saved.head.wallet.putInPaise += 1;
    },
  ],
  [
    'another opening balance',
    'its opening balance is another',
    (saved) => void (saved.head.openingBalancePaise += 1),
  ],
  // requests
  [
    'a request that is there twice',
    'out of order',
    (saved) => saved.put({ request: saved.of('request')[0] }),
  ],
  [
    'a request whose number was not given',
    'has a number that was not given',
    (saved) => void (saved.of('request').at(-1)!.nth = 1000),
  ],
  // the rest
  [
    'a clock before 1970',
    'its clock is before 1970',
    (saved) => void (saved.head.clock = { frozenAtMs: null, aheadMs: -LATEST_MS }),
  ],
  [
    'a scenario that is none',
    'cannot be used here',
    (saved) => void (saved.head.scenario.source.document = { rules: 5 }),
  ],
  [
    'no scenario at all',
    'cannot be used here',
    (saved) => void delete (saved.head.scenario.source as { document?: unknown }).document,
  ],
  [
    'overrides with too many patterns together',
    'brings the regular expressions to 21',
    (saved) =>
      saved.put(
        ...['a', 'b', 'c'].map((name) => {
          const header = Object.fromEntries(
            Array.from({ length: 7 }, (_, nth) => [`x-${nth}`, { matches: 'a' }]),
          );
          return { rule: { name, match: { header }, effect: { delay: '1ms' } } };
        }),
      ),
  ],
  ['an override that is none', 'cannot be used here', (saved) => saved.put({ rule: { name: 'x' } })],
  [
    'two rules of one name',
    'two overrides have the same name',
    (saved) => saved.put({ rule: saved.of('rule')[0] }),
  ],
  [
    'more overrides than there may be',
    'more than 100 overrides',
    (saved) =>
      saved.put(
        ...Array.from({ length: 99 }, (_, nth) => ({ rule: { name: `r${nth}`, effect: { delay: '1ms' } } })),
      ),
  ],
  [
    'more attempts than there may be',
    'more than 20000 attempts',
    (saved) =>
      saved.put(
        ...Array.from({ length: 20_001 }, (_, nth) => ({
          attempts: { of: `initiate x${nth}`, count: 1, payout: 0, isRecent: true },
        })),
      ),
  ],
  [
    'more rules counted than there may be',
    'more than 100000 rules',
    (saved) => {
      for (let nth = 0; nth <= 100_000; nth += 1)
        saved.put({ use: { rule: `x/${nth}`, matched: 1, taken: 1 } });
    },
  ],
])('a snapshot with a value that no world has is refused', (_what, why, tamper) => {
  const saved = new Tampered();
  tamper(saved);
  const refusal = refusalOf(() => load(saved.saved));
  expect(refusal).toMatchObject({ code: 'STATE_REFUSED' });
  expect(refusal.message).toMatch(new RegExp(why));
});

test.each<[what: string, change: (saved: Tampered) => void]>([
  ['a step ahead whose time has gone by', (saved) => void (saved.payout(4).timeline[1]!.afterMs = 0)],
  ['a step ahead whose read has been', (saved) => void (saved.payout(2).reads = 9)],
  ['a step at which only the UTR comes', (saved) => void (saved.payout(3).timeline[0]!.to = null)],
  ['further steps by reads', (saved) => void (saved.payout(4).timeline[1] = atRead('REVERSED', 7))],
  [
    'counters of rules of another scenario',
    (saved) => saved.put({ use: { rule: 'x/y', matched: 5, taken: 5 } }),
  ],
])('a snapshot may have %s', (_what, change) => {
  const saved = new Tampered();
  change(saved);
  expect(brokenInvariants(load(saved.saved))).toEqual([]);
});

/** A world as it is after a file: every line is held against its shape, and read. */
function afterFile({ state }: Core): Saved {
  const saved = save(state);
  const head = WorldHead.parse(saved.head);
  const items = saved.items.map((item) => {
    const [[name, value]] = Object.entries(item) as [[keyof typeof WORLD_ITEMS, unknown]];
    return { [name]: WORLD_ITEMS[name].parse(value) } as WorldItem;
  });
  return save(load({ head, items }));
}

describe('a world can be restored from its snapshot', () => {
  const rules = (effect: object) => ({
    rules: [{ name: 'r', match: { route: 'initiate' as const }, effect }],
  });

  test.each<[what: string, make: () => Core]>([
    ['after nothing at all', () => new Core()],
    ['with an empty wallet', () => new Core({ wallet: { opening_balance: 0 } })],
    [
      'with a step planned for ten thousand years',
      () => new Core(rules({ timeline: [{ to: 'SUCCESS', after: '3650000d' }] })),
    ],
    [
      'with a step at a time of day',
      () =>
        new Core(
          rules({
            timeline: [
              { to: 'SUCCESS', after: '3650000d' },
              { to: 'REVERSED', at: '06:30' },
            ],
          }),
        ),
    ],
    [
      'with a step at a read that nobody will see',
      () => new Core(rules({ timeline: [{ to: 'SUCCESS', polls: Number.MAX_SAFE_INTEGER }] })),
    ],
    [
      'with a payout hidden for ever',
      () => new Core(rules({ not_found: { reads: Number.MAX_SAFE_INTEGER } })),
    ],
    [
      'with a payout hidden for ten thousand years',
      () => new Core(rules({ not_found: { for: '3650000d' } })),
    ],
    [
      'at the end of the year 9999',
      () => new Core({ settlement: 'instant' }, { clock: { frozenAtMs: LATEST_MS } }),
    ],
    ['at the beginning of 1970', () => new Core({ settlement: 'realistic' }, { clock: { frozenAtMs: 0 } })],
  ])('%s', (_what, make) => {
    const world = make();
    world.pay('a');
    world.read('a');
    expect(afterFile(world)).toEqual(save(world.state));
    world.submit(advance({ until: 'idle' }));
    expect(afterFile(world)).toEqual(save(world.state));
  });

  test('with the longest texts of any characters, a full wallet, and a step that came later than was planned', () => {
    const document = timelines({
      a: [
        { to: 'SUCCESS', polls: 1 },
        { to: 'REVERSED', after: '5ms' },
      ],
    });
    const world = new Core({ ...document, dialect: { client_ref_id: { after_402: 'remember' } } });
    const text = '\u{1F4B8}'.repeat(64);
    world.pay(text, {
      beneficiary_name: text,
      beneficiary_account: text,
      beneficiary_ifsc: text,
      remarks: text,
    });
    world.pay(`${'x'.repeat(127)}\u0000`, { amount: 99 });
    world.read('x'.repeat(5000));
    world.pay('a');
    world.read('a', 30);
    world.submit({ kind: 'credit', amountPaise: 1e13 - 1000 });
    world.pay('b', { amount: 1e11 - 2 });
    expect(afterFile(world)).toEqual(save(world.state));
  });

  test('with as many rules as a scenario may have, and of several scenarios that requests chose', () => {
    const rules = Array.from({ length: 500 }, (_, nth) => ({
      name: `r${nth}`,
      skip: 9,
      effect: { delay: '0ms' },
    }));
    const world = new Core();
    const names = ['a', 'b', 'c', 'd', 'e'].slice(0, sized(2, 5));
    for (const name of names) world.submit(balance({ scenario: sourceOf({ rules }, {}, name) }));
    expect(world.state.uses.size).toBe(500 * names.length);
    expect(afterFile(world)).toEqual(save(world.state));
  });
});
