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
  save,
  sourceOf,
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
  });

  test('is refused while there is nothing to take back', async () => {
    const a = logFor().world('a');
    await a.submit(initiate());
    await expect(undoing(a, forced)).rejects.toMatchObject({ code: 'UNDO_REFUSED' });
    await a.submit({ kind: 'credit', amountPaise: 1 });
    await a.submit(undo);
    await expect(undoing(a, undo)).rejects.toMatchObject({ code: 'UNDO_REFUSED' });
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
    await a.submit(initiate({ client_ref_id: 'p' }));
    await a.submit({ kind: 'credit', amountPaise: 1 });
    await a.submit({ kind: 'release', id: 1, order: { respond: null, fault: null } });
    await expect(undoing(a, undo)).rejects.toMatchObject({
      code: 'UNDO_REFUSED',
      message:
        'A held request has ended since the last action (credit): #1 initiate p. With force, undo takes it back too',
    });
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
