import { LATEST_MS } from '../../src/contract/service.ts';
import type { WORLD_ITEMS, WorldItem } from '../../src/contract/snapshot.ts';
import { describe, expect, test } from 'vitest';
import { brokenInvariants } from '../../src/world/ledger.ts';
import { takeSnapshot } from '../../src/world/snapshot.ts';
import {
  advance,
  balance,
  Core,
  initiate,
  load,
  loadFile,
  oneRule,
  refusalOf,
  save,
  steps,
  timelines,
  type Saved,
} from '../support/world/core.ts';
import { evidenceOf } from '../referee/journal-of.ts';
import { judge } from '../../src/referee/judge.ts';
import { atRead, step } from '../support/world/payouts.ts';
import { testRows } from '../support/test-rows.ts';

/**
 * A world at 10 ms. Its payouts: 0 was reversed after its success, 1 failed, 2 waits for two steps by reads, 3 is the
 * second one of its reference, 4 succeeded at a read, and is to be reversed at 90 ms. It has a credit, a debit, a
 * kept refusal, an override, and counters.
 */
function past(): Core {
  const world = new Core({
    ...timelines({
      p0: 'SUCCESS 1ms, REVERSED 2ms',
      p1: 'FAILED 1ms',
      p2: 'SUCCESS read 2, REVERSED read 3',
      p4: 'SUCCESS read 1, REVERSED 90ms',
    }),
    settlement: { NEFT: [{ to: 'SUCCESS', after: '50ms' }] },
    dialect: { client_ref_id: { changed_body: 'second_payout', same_body: 'stored' } },
  });
  for (const reference of ['p0', 'p1', 'p2']) world.pay(reference);
  const second = { client_ref_id: 'p1', beneficiary_account: '1', transfer_mode: 'NEFT' } as const;
  world.submit(initiate(second));
  world.pay('p4');
  world.pay('poor', { amount: 99 });
  world.submit({ kind: 'credit', amountPaise: 70 }, 3);
  world.submit({ kind: 'debit', amountPaise: 20 }, 3);
  world.read('p4', 4);
  const match = { route: 'balance' } as const;
  world.put({ name: 'top', match, effect: { delay: '1ms' } });
  world.put({ name: 'other', match: { ...match, attempt: 5 }, effect: { delay: '1ms' } });
  world.put({ name: 'busy', match, effect: { limit: { max: 2, per: '1h' } } });
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

  put(...items: object[]): void {
    for (const item of items) this.saved.items.push(item as Loose<WorldItem>);
  }

  drop(name: keyof typeof WORLD_ITEMS, nth: number): void {
    const found = this.saved.items.filter((item) => name in item)[nth]!;
    this.saved.items.splice(this.saved.items.indexOf(found), 1);
  }
}

test('a snapshot stays as it was taken, whatever happens before it is read', () => {
  const world = past();
  const snapshot = takeSnapshot(world.state);
  const then = save(world.state);
  world.force('p2', 'FAILED');
  world.pay('later', { amount: 1 });
  world.submit({ kind: 'removeRule', name: null });
  world.submit(balance(), 95);
  expect(JSON.parse(JSON.stringify([...snapshot.items]))).toEqual(then.items);
  expect(snapshot.head).toEqual(then.head);
});

type Tamper = (saved: Tampered) => void;

testRows<[what: string, why: string, tamper: Tamper]>([
  [
    'more money in the wallet than the ledger explains',
    'it does not hold that balance + PENDING + SUCCESS = money put in',
    ({ head }) => void (head.wallet.balancePaise += 1),
  ],
  [
    'money that is out twice',
    'it does not hold that money out is in PENDING and SUCCESS',
    ({ head }) => void (head.wallet.paidOutPaise += 1),
  ],
  [
    'a balance that its entries do not show',
    'it does not hold that the newest entry shows the balance',
    (saved) => saved.drop('entry', saved.of('entry').length - 1),
  ],
  ['an entry too few', 'the entries do not explain the balance', (saved) => saved.drop('entry', 3)],
  ['a payout twice', 'it does not hold that', (saved) => saved.put({ payout: saved.payout(0) })],
  [
    'an illegal edge ahead',
    'legal edges only',
    (saved) => void saved.payout(4).timeline.push(step('FAILED', 91)),
  ],
  [
    'a scenario that is none',
    'cannot be used here',
    ({ head }) => void (head.scenario.source.document = { rules: 5 }),
  ],
  ['an override that is none', 'cannot be used here', (saved) => saved.put({ rule: { name: 'x' } })],
  [
    'more overrides than there may be',
    'more than 100 overrides',
    (saved) => {
      for (let nth = 1; nth < 100; nth += 1)
        saved.put({ rule: { name: `r${nth}`, effect: { delay: '1ms' } } });
    },
  ],
  [
    'more reports of the referee than there may be',
    'more than 10 reports',
    (saved) => {
      for (let nth = 0; nth <= 10; nth += 1)
        saved.put({ report: { report: judge('a', evidenceOf([])), last: null } });
    },
  ],
])('a snapshot with a value that no world has is refused', (_what, why, tamper) => {
  const saved = new Tampered();
  tamper(saved);
  const refusal = refusalOf(() => load(saved.saved));
  expect(refusal).toMatchObject({ code: 'STATE_REFUSED', message: expect.stringContaining(why) as string });
});

testRows<[what: string, change: Tamper]>([
  ['a step ahead whose time has gone by', (saved) => void (saved.payout(4).timeline[1]!.afterMs = 0)],
  ['a step ahead whose read has been', (saved) => void (saved.payout(2).reads = 9)],
  ['a step at which only the UTR comes', (saved) => void (saved.payout(3).timeline[0]!.to = null)],
  ['further steps by reads', (saved) => void (saved.payout(4).timeline[1] = atRead('REVERSED', 7))],
  ['counters of another scenario', (saved) => saved.put({ use: { rule: 'x/y', matched: 5, taken: 5 } })],
])('a snapshot may have what its scenario alone does not explain', (_what, change) => {
  const saved = new Tampered();
  change(saved);
  expect(brokenInvariants(load(saved.saved))).toEqual([]);
});

test('as a store has it, a snapshot keeps the requests that are under way: held, expired, and no longer listed', () => {
  const world = new Core(oneRule({ hold: { at: 'arrived', for: '5ms' } }));
  Object.assign(world, { isAnswering: false, keep: 3 });
  for (let nth = 0; nth < 2; nth += 1) world.balance();
  world.pay('expired');
  world.settle(10);
  world.pay('waiting');
  for (let nth = 0; nth < 2; nth += 1) world.balance();
  world.end(world.state.requests.count, 'answered');
  const saved = save(world.state, true);
  const kinds = new Set(saved.items.flatMap((item) => Object.keys(item)));
  expect([...kinds].slice(-4)).toEqual(['pending', 'request', 'waiting', 'expired']);
  expect(saved.head).toMatchObject({ generation: world.state.generation, eventCount: world.events.length });
  const read = load(saved);
  expect(save(read, true)).toEqual(saved);
  expect(read.requests.pending.map(({ nth }) => nth)).toEqual(
    world.state.requests.pending.map(({ nth }) => nth),
  );
});

/** A world as it is after a file. */
const afterFile = ({ state }: Core): Saved => save(loadFile(save(state)));

describe('a world can be restored from its snapshot', () => {
  const FOR_EVER = '3650000d'; // ten thousand years
  const NEVER_READ = Number.MAX_SAFE_INTEGER;
  const daily = { timeline: [...steps(`SUCCESS ${FOR_EVER}`), { to: 'REVERSED' as const, at: '06:30' }] };

  testRows<[what: string, ...world: ConstructorParameters<typeof Core>]>([
    ['with an empty wallet', { wallet: { opening_balance: 0 } }],
    ['with a step at a time of day after ten thousand years', oneRule(daily)],
    [
      'with a step at a read that nobody will see',
      oneRule({ timeline: steps(`SUCCESS read ${NEVER_READ}`) }),
    ],
    ['with a payout hidden from all reads', oneRule({ not_found: { reads: NEVER_READ } })],
    ['with a payout hidden for ten thousand years', oneRule({ not_found: { for: FOR_EVER } })],
    ['at the end of the year 9999', { settlement: 'instant' }, { clock: { atMs: LATEST_MS, speed: 0 } }],
    ['at the beginning of 1970', { settlement: 'realistic' }, { clock: { atMs: 0, speed: 0 } }],
  ])('at the ends of what a world may have', (_what, ...options) => {
    const world = new Core(...options);
    world.pay('a');
    world.read('a');
    expect(afterFile(world)).toEqual(save(world.state));
    world.submit(advance({ until: 'idle' }));
    expect(afterFile(world)).toEqual(save(world.state));
  });

  test('with the longest texts of any characters, a full wallet, and a step that came later than was planned', () => {
    const world = new Core({
      ...timelines({ a: 'SUCCESS read 1, REVERSED 5ms' }),
      dialect: { client_ref_id: { same_body: 'stored' } },
    });
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
});
