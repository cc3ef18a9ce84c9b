import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { World } from '../../src/worlds/world.ts';
import type { WorldState } from '../../src/world/state-shape.ts';
import type { Command } from '../../src/world/commands.ts';
import { acts, anyAct, ENTANGLED, restoring, type Act } from '../support/world/commands.ts';
import {
  advance,
  balance,
  initiate,
  load,
  logFor,
  readerOf,
  save,
  sourceOf,
  status,
  type Core,
} from '../support/world/core.ts';
import { sized } from '../support/size.ts';

const undo = { kind: 'undo', isForced: false } as const;
const forced = { kind: 'undo', isForced: true } as const;

const anything = fc.oneof(
  { weight: 15, arbitrary: anyAct },
  { weight: 1, arbitrary: fc.constant(restoring) },
);

/** A world whose log is compacted all the time, and what it needs to run. */
function compacted() {
  const all = logFor({ document: ENTANGLED, maxRequests: 8 });
  return { ...all, a: all.world('a') };
}

/** Submits a command, waits until it is finished, and ends a request. Refusals are as good as anything. */
async function submit(world: World, command: Command | null): Promise<void> {
  try {
    const result = command === null ? undefined : await world.submit(command);
    if (typeof result !== 'object' || !('outcome' in result)) return;
    world.end({
      request: result.nth,
      outcome: 'answered',
      durationMs: 1,
      after: world.position,
      isSent: true,
    });
  } catch {
    // refused
  }
}

const commandOf = ({ command }: Act, world: World): Command | null =>
  command({ state: world.latest } as Core);

async function run({ a, wallClock }: ReturnType<typeof compacted>, history: readonly Act[]) {
  for (const act of history) {
    await wallClock.pass(act.waitMs);
    await submit(a, commandOf(act, a));
  }
}

/** Every control action that can be undone. */
const action = fc.oneof(
  fc.constantFrom<Command>(
    { kind: 'speed', speed: 0 },
    { kind: 'speed', speed: 1 },
    { kind: 'credit', amountPaise: 7 },
    { kind: 'debit', amountPaise: 1 },
    { kind: 'choose', source: sourceOf({ settlement: 'instant' }, {}, 'other'), isChosen: true },
    { kind: 'putRule', rule: { name: 'top', effect: { respond: { status: 503 } } } },
    { kind: 'removeRule', name: null },
    { kind: 'reset', source: sourceOf({ wallet: { opening_balance: 3 } }) },
    advance({ until: 'idle' }),
  ),
  fc.nat(2000).map((byMs) => advance({ byMs })),
);
const acting = fc.oneof<fc.WeightedArbitrary<Act['command']>[]>(
  { weight: 10, arbitrary: action.map((command) => () => command) },
  { weight: 1, arbitrary: fc.constant(restoring.command) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('SUCCESS' as const, 'FAILED' as const).map((to) => ({ state }: Core) => {
      const { txnId } = state.payouts.findLast((payout) => payout.state === 'PENDING') ?? {};
      return txnId === undefined ? null : { kind: 'transition', txnId, to };
    }),
  },
);

test('an action that is undone, however late, might never have been', async () => {
  await fc.assert(
    fc.asyncProperty(
      acts(anything, 30),
      acting,
      fc.nat(500),
      acts(anyAct, 10),
      async (history, command, waitMs, future) => {
        const ends = await Promise.all(
          [true, false].map(async (isDone) => {
            const all = compacted();
            const { a, wallClock } = all;
            await run(all, history);
            await a.submit({ kind: 'settle' });
            const before = a.latest.undoPoints.at(-1);
            if (isDone) await submit(a, commandOf({ ...restoring, command }, a));
            await wallClock.pass(waitMs);
            if (a.latest.undoPoints.at(-1) !== before) await a.submit(undo);
            await a.submit({ kind: 'settle' });
            const undone = save(a.latest);
            await run(all, future);
            return { undone, later: save(a.latest) };
          }),
        );
        expect(ends[0]).toEqual(ends[1]);
      },
    ),
    { numRuns: sized(15, 200) },
  );
});

/** What follows from a state, but for what was already tried of UTRs that are taken, and the order of its steps. */
function indexOf({ index }: Readonly<WorldState>) {
  const {
    due: _due,
    nextSerials: _next,
    base: _base,
    overrides: _overrides,
    active: _active,
    ...rest
  } = index;
  return rest;
}

test('an undo that is forced takes back all that the client has done since', async () => {
  const ledger = (world: World) => {
    const { head, items } = save(world.latest);
    return {
      ...head,
      wallMs: null,
      requests: null,
      held: null,
      items: items.filter((item) => !('request' in item)),
    };
  };
  await fc.assert(
    fc.asyncProperty(acts(anything, 30), acting, acts(anyAct, 20), async (history, command, since) => {
      const all = compacted();
      const { a, wallClock } = all;
      await run(all, history);
      await a.submit({ kind: 'speed', speed: 0 });
      const before = { point: a.latest.undoPoints.at(-1), ledger: ledger(a) };
      await submit(a, commandOf({ ...restoring, command }, a));
      const point = a.latest.undoPoints.at(-1);
      if (point === before.point) return;
      for (const act of since) {
        await wallClock.pass(act.waitMs);
        const one = commandOf(act, a);
        if (one !== null && 'request' in one) await submit(a, one);
      }
      await a.submit(forced);
      expect(ledger(a)).toEqual(before.ledger);
      expect(indexOf(a.latest)).toEqual(indexOf(load(save(a.latest))));
    }),
    { numRuns: sized(15, 200) },
  );
});

describe('an undo', () => {
  const undoing = async (world: World, command: Command) => world.submit(command); // a refusal comes at once
  const paise = (world: World) => world.latest.wallet.balancePaise;

  test.each<[what: string, command: () => Command]>([
    ['credits', () => ({ kind: 'credit', amountPaise: 1 })],
    ['resets', () => ({ kind: 'reset', source: sourceOf() })],
    [
      'restores',
      () => ({
        kind: 'restore',
        state: load(save(logFor().world('b').latest)),
        clock: 'from-snapshot',
      }),
    ],
  ])('takes back the latest ten %s, one after the other', async (_what, command) => {
    const a = logFor().world('a');
    await a.submit(initiate());
    for (let nth = 0; nth < 12; nth += 1) await a.submit(command()); // more than it remembers
    const states: object[] = [];
    for (let nth = 0; nth < 10; nth += 1) {
      states.push({ paise: paise(a), ...save(a.latest) });
      await a.submit(command());
    }
    for (const state of states.toReversed()) {
      await a.submit(undo);
      expect({ paise: paise(a), ...save(a.latest) }).toEqual(state);
    }
    await expect(undoing(a, undo)).rejects.toMatchObject({ code: 'UNDO_REFUSED' });
  });

  test('is refused while there is nothing to take back', async () => {
    const a = logFor().world('a');
    await a.submit(initiate());
    await expect(undoing(a, forced)).rejects.toMatchObject({ code: 'UNDO_REFUSED' });
    await a.submit({ kind: 'credit', amountPaise: 1 });
    await a.submit(undo);
    await expect(undoing(a, undo)).rejects.toMatchObject({ code: 'UNDO_REFUSED' });
    await a.submit({ kind: 'credit', amountPaise: 1 });
    await a.submit({ kind: 'forgetUndo' });
    await expect(undoing(a, undo)).rejects.toMatchObject({ code: 'UNDO_REFUSED' });
  });

  test('is refused where the sandbox has no room for what a reset took away', async () => {
    const { world } = logFor({ maxTransactions: 3, maxRules: 2 });
    const [a, b] = [world('a'), world('b')];
    const rule = { kind: 'putRule', rule: { effect: { delay: '1s' } } } as const;
    await a.submit(initiate());
    await a.submit(rule);
    const take = [{ kind: 'credit', amountPaise: 1 } as const, rule];
    for (const [nth, message] of [/^The sandbox is full/, /^The scenarios and rules/].entries()) {
      await a.submit({ kind: 'reset', source: sourceOf() });
      for (let more = 0; more < 3 - nth; more += 1) await b.submit(take[nth]!);
      await expect(undoing(a, undo)).rejects.toThrow(message);
      await b.submit(undo);
      await a.submit(undo);
    }
  });

  test('is an event that names the action, as a restore', async () => {
    const a = logFor().world('a');
    await a.submit({ kind: 'credit', amountPaise: 1 });
    const { read } = await readerOf(a);
    await a.submit(undo);
    expect(read.map(({ type, data }) => [type, JSON.parse(data)])).toMatchObject([
      ['restore', { undone: 'credit' }],
    ]);
  });

  test('names the requests since, and takes them back only when it is forced', async () => {
    const a = logFor({ maxRequests: 100 }).world('a');
    await a.submit({ kind: 'credit', amountPaise: 50 });
    for (let nth = 1; nth <= 12; nth += 1)
      await a.submit(initiate({ client_ref_id: `p${nth}`, amount: 0.01 }));
    await expect(undoing(a, undo)).rejects.toMatchObject({
      code: 'UNDO_REFUSED',
      message: `The client has sent 12 requests since the last action (credit): ${Array.from({ length: 10 }, (_, nth) => `#${nth + 1} initiate p${nth + 1}`).join(', ')} and 2 more. With force, undo takes them back too`,
    });
    expect(paise(a)).toBe(1038);
    await a.submit(forced);
    expect([paise(a), a.latest.requests.list, a.latest.requests.count]).toEqual([1000, [], 12]);
  });

  test('that is forced takes back what was settled and told since, and frees its UTRs', async () => {
    const settlement = {
      IMPS: [{ to: 'SUCCESS', after: '0s' }],
      UPI: [{ to: 'SUCCESS', polls: 1 }],
    } as const;
    const a = logFor({ document: { settlement } }).world('a');
    for (const [client_ref_id, transfer_mode] of [
      ['p', 'IMPS'],
      ['q', 'UPI'],
    ] as const)
      await a.submit(initiate({ client_ref_id, transfer_mode }));
    const all = () => structuredClone([save(a.latest, true).items, indexOf(a.latest)]);
    const before = all();
    await a.submit({ kind: 'credit', amountPaise: 50 });
    for (const client_ref_id of ['p', 'q', 'q']) await submit(a, status({ client_ref_id }));
    await submit(a, initiate({ client_ref_id: 'r' }));
    await a.submit({ kind: 'settle' });
    await a.submit(balance()); // whose response is still being sent
    expect(a.latest.payouts.map(({ state, told }) => `${state} ${told?.as}`)).toEqual([
      'SUCCESS SUCCESS',
      'SUCCESS SUCCESS',
      'SUCCESS PENDING',
    ]);
    await a.submit(forced);
    expect(all()).toEqual(before);
    expect(a.latest.requests.pending.map(({ nth }) => nth)).toEqual([1, 2]);
  });

  test('names only the requests since the action that are still listed', async () => {
    const a = logFor().world('a');
    const since = (which: string) =>
      `The client has sent a request since the last action (credit): ${which}. With force, undo takes it back too`;
    await a.submit(initiate());
    await a.submit({ kind: 'credit', amountPaise: 50 });
    await submit(a, balance());
    await expect(undoing(a, undo)).rejects.toMatchObject({ message: since('#2 balance') });
    await a.submit({ kind: 'settle' });
    await a.submit({ kind: 'forget', as: 'cleared' });
    await expect(undoing(a, undo)).rejects.toMatchObject({ message: since('no longer listed') });
  });

  test.each(['comes after the action', 'comes after the undo'])(
    'keeps the end of a request that %s',
    async (when) => {
      const a = logFor({
        document: { rules: [{ name: 'r', match: { route: 'initiate' }, effect: { delay: '1s' } }] },
      }).world('a');
      const { nth } = await a.submit(initiate());
      const end = () =>
        a.end({ request: nth, outcome: 'answered', durationMs: 5, after: a.position, isSent: true });
      await a.submit({ kind: 'credit', amountPaise: 1 });
      if (when.endsWith('action')) end();
      await a.submit(undo);
      if (when.endsWith('undo')) end();
      await a.submit({ kind: 'settle' });
      const kept = a.latest.requests.list.map(({ outcome, durationMs, response }) => [
        outcome,
        durationMs,
        response,
      ]);
      expect(kept).toEqual([['answered', 5, 'planned']]);
      expect(a.latest.payouts[0]!.told).toMatchObject({ request: 1 });
    },
  );

  test('is refused once a held request has ended since, and leaves it ended when it is forced', async () => {
    const a = logFor({
      document: { rules: [{ name: 'r', match: { route: 'initiate' }, effect: { hold: 'arrived' } }] },
    }).world('a');
    for (const client_ref_id of ['p', 'q', 'r']) await a.submit(initiate({ client_ref_id }));
    await a.submit({ kind: 'credit', amountPaise: 1 });
    for (const [id, message] of [
      [
        1,
        'A held request has ended since the last action (credit): #1 initiate p. With force, undo takes it back too',
      ],
      [
        2,
        '2 held requests have ended since the last action (credit): #1 initiate p, #2 initiate q. With force, undo takes them back too',
      ],
    ] as const) {
      await a.submit({ kind: 'release', id, order: { respond: null, fault: null } });
      await expect(undoing(a, undo)).rejects.toMatchObject({ code: 'UNDO_REFUSED', message });
    }
    await a.submit(forced);
    expect([a.latest.held.waiting, a.latest.payouts]).toEqual([[], []]);
  });

  test('of a restore does not count the requests of the other world', async () => {
    const [a, b] = [logFor().world('a'), logFor().world('b')];
    for (let nth = 1; nth <= 3; nth += 1) await b.submit(balance());
    await a.submit({ kind: 'restore', state: load(save(b.latest)), clock: 'from-snapshot' });
    await a.submit(undo);
    expect(a.latest.requests.list).toEqual([]);
  });

  test('of a reset leaves attempts as they were before it, also if another action was undone since', async () => {
    const a = logFor().world('a');
    await a.submit(initiate());
    const before = save(a.latest).items;
    await a.submit({ kind: 'reset', source: sourceOf() });
    await a.submit({ kind: 'credit', amountPaise: 1 });
    await a.submit(undo);
    await a.submit(initiate());
    await a.submit(forced);
    expect(save(a.latest).items).toEqual(before);
  });

  test('does not use up the past: older actions can still be undone after many undos', async () => {
    const { world } = logFor();
    const a = world('a');
    await a.submit({ kind: 'credit', amountPaise: 1 });
    for (let nth = 0; nth < 30; nth += 1) {
      await a.submit({ kind: 'credit', amountPaise: 2 });
      await a.submit(undo);
    }
    await a.submit(undo);
    expect(a.latest.entries).toHaveLength(1);
  });

  test('does not count requests that another undo has taken back', async () => {
    const a = logFor().world('a');
    await a.submit({ kind: 'credit', amountPaise: 1 });
    await a.submit({ kind: 'credit', amountPaise: 2 });
    await a.submit(initiate());
    await a.submit(forced);
    await a.submit(undo);
    expect(paise(a)).toBe(1000);
  });
});
