import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connectSandbox, hunt, startSandbox, type HuntOptions, type World } from '../../../src/index.ts';
import { evidenceOf, payoutOf, type Line } from '../../referee/journal-of.ts';
import { CORRECT } from '../../referee/clients/correct.ts';
import { order, PayoutApi } from '../../referee/clients/payout-api.ts';
import { isLong, sized } from '../../support/size.ts';
import { fileWith } from '../../support/temporary-folder.ts';
import { testRows } from '../../support/test-rows.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';
import { hitsIn } from '../../../src/trials/hunt/goals.ts';
import { runClient } from '../../../src/trials/run.ts';
import { FOUND_WITHIN, PLANTED } from './planted.ts';

type Options = Partial<Omit<HuntOptions, 'run'>>;

/** Hunts a client that leaves requests which hang at once, so that it never waits for as long as it may. */
const huntFor = (run: (api: PayoutApi, signal: AbortSignal) => Promise<unknown>, options: Options = {}) =>
  hunt({
    patience: '1m',
    ...options,
    run: (world, signal) => PayoutApi.run(world, async (api) => void (await run(api, signal))),
  });

/** `npm test` leaves out the one that needs three failures, and so many runs. */
test.each(PLANTED.filter(({ failures }) => isLong || failures < 3))(
  'a client that $name: $goal is found with $failures failures, and its scenario shows it every time',
  async ({ failures, goal, story, run, within = FOUND_WITHIN[failures]! }) => {
    const { findings, runs, flaky } = await huntFor(run, { goals: [goal] });
    expect(findings).toMatchObject([{ goal, failures: { length: failures }, ...(story && { story }) }]);
    expect(runs).toBeLessThanOrEqual(within);
    expect(flaky).toEqual([]);
    const { yaml, expected } = findings[0]!;
    const file = fileWith('found.yaml', yaml);
    await using sandbox = await startSandbox({ scenario: file });
    for (let time = 1; time <= sized(2, 10); time += 1) {
      const world = sandbox.world();
      await PayoutApi.run(world, run);
      expect((await world.referee({ expect: [...expected] }, { ended: true })).passed).toBe(false);
    }
  },
);

const HUNTED = new Set([
  'pays three orders, one after the other',
  'pays one person the same amount twice on purpose',
  'makes a new payout once the first has FAILED',
  'is restarted after each send, and asks before it sends again',
]);

test.each(CORRECT.filter(({ name }) => HUNTED.has(name)))(
  'nothing is found in a client that $name',
  async ({ run }) => {
    const inDoubt = async (api: PayoutApi): Promise<void> => {
      if ((await run(api)) === false) throw new Error('a payout was not found');
    };
    const result = await huntFor(inDoubt, {
      runs: sized(4, 500),
      intent: { client_ref_id: '^(order-\\d+)' },
    });
    expect(result).toMatchObject({ findings: [], flaky: [], runs: sized(4, 500) });
  },
);

const waits = (api: PayoutApi): Promise<unknown> => api.initiate(order(1), true);

async function asksForEver(api: PayoutApi, signal: AbortSignal): Promise<void> {
  await api.initiate(order(1));
  let state: string | null = null;
  while (state !== 'SUCCESS' && !signal.aborted) {
    ({ state } = await api.status({ client_ref_id: 'order-1' }));
    await pause(5);
  }
}

test.each([
  ['without a timeout', waits, 'hang', 'never comes'],
  ['that asks for ever', asksForEver, 'failed', 'did not finish'],
])('a client %s is stuck', async (_what, run, kind, words) => {
  const { findings } = await huntFor(run, { goals: ['stuck'], patience: '200ms', depth: 1, runs: 9 });
  const message = expect.stringContaining(words) as string;
  expect(findings).toMatchObject([{ goal: 'stuck', failures: [{ kind }], message }]);
});

test('a payout that is never made is lost only for a client that ends with success', async () => {
  const send = (api: PayoutApi) => api.initiate(order(1));
  expect((await huntFor(send, { goals: ['lost'], depth: 1 })).findings).toMatchObject([{ goal: 'lost' }]);
  const careful = async (api: PayoutApi): Promise<void> => {
    if ((await send(api)).http !== 200) throw new Error('not paid');
    const { state } = await api.status({ client_ref_id: 'order-1' });
    if (state !== 'SUCCESS' && state !== 'FAILED') throw new Error('unknown');
  };
  expect((await huntFor(careful, { goals: ['lost'], depth: 1 })).findings).toEqual([]);
});

testRows<[kind: string, isPaid: (states: readonly (string | null)[]) => boolean]>([
  ['reversed', (states) => !states.includes('FAILED')],
  ['reversed-late', (states) => states.includes('SUCCESS')],
  ['failed-late', ([first]) => first === 'PENDING' || first === 'SUCCESS'],
])('a payout that becomes %s is lost for a client that takes it for paid', async (kind, isPaid) => {
  const run: HuntOptions['run'] = async (world) => {
    const states: (string | null)[] = [];
    await PayoutApi.run(world, async (api) => {
      if ((await api.initiate(order(1))).http !== 200) return;
      while (states.length < 3) states.push((await api.status({ client_ref_id: 'order-1' })).state);
    });
    return states.length > 0 && isPaid(states) ? 'paid' : 'failed';
  };
  const { findings } = await hunt({ run, goals: ['lost'], depth: 1, patience: '1m' });
  expect(findings).toMatchObject([{ failures: [{ kind }] }]);
});

test('a payout that takes the place of one that FAILED is lost too, and without one nothing is', () => {
  const asked: Line[] = [{ state: 'PENDING' }, { route: 'status', state: 'FAILED' }];
  const again: Line = { reference: 'order-1-again', http: 500 };
  const settings = { expect: [{ account: '000123456789', amount: 100, times: 1 }] };
  const rules = { goals: ['lost'] as const, settings, usual: null, patienceMs: 1000 };
  const hits = (lines: readonly Line[]) => {
    const payouts = [payoutOf('order-1', [['FAILED', 500]])];
    const evidence = evidenceOf(lines, { payouts });
    return hitsIn(
      { ending: { kind: 'success' }, durationMs: 1, worlds: [evidence], isPending: false, isJoined: false },
      rules,
    );
  };
  expect(hits(asked)).toEqual([]);
  expect(hits([...asked, again])).toMatchObject([{ goal: 'lost' }]);
});

test('a fault that needs no failure is found in the first two runs', async () => {
  const reuse = async (api: PayoutApi): Promise<void> => {
    await api.initiate(order(1));
    await api.initiate(order(1, { amount: 250 }));
  };
  const { findings, runs } = await huntFor(reuse, { goals: ['conduct'] });
  expect(findings).toMatchObject([
    { goal: 'conduct', failures: [], story: expect.stringContaining('No failure is needed') },
  ]);
  expect(runs).toBe(2);
});

test('a goal that is reached only once is reported as flaky, not as a find', async () => {
  let isFirst = true;
  const { findings, flaky } = await huntFor(
    async (api) => {
      const { http } = await api.initiate(order(1));
      if (http !== 500 || !isFirst) return;
      isFirst = false;
      await api.initiate(order(1, { client_ref_id: 'order-1-again' }));
    },
    { goals: ['paid-twice'], depth: 1 },
  );
  expect({ findings, flaky }).toMatchObject({ findings: [], flaky: [{ goal: 'paid-twice' }] });
});

test('four workers find the same as one', async () => {
  const { run } = PLANTED[0]!;
  const huntWith = (workers: number) => huntFor(run, { goals: ['paid-twice'], workers, depth: 1 });
  const [one, many] = [await huntWith(1), await huntWith(4)];
  expect(many.findings.map(({ failures }) => failures)).toEqual(one.findings.map(({ failures }) => failures));
});

test('a hunt ends after the given number of runs, and reports how much of the search is done', async () => {
  const { runs, rounds, notTried } = await huntFor(PLANTED.at(-1)!.run, { runs: 9 });
  expect(notTried).toEqual([
    '13 of 20 single failures',
    expect.stringMatching(/^(\d+) of \1 pairs$/),
    'anything that needs a third failure',
    'the death of the client',
  ]);
  expect({ runs, rounds }).toEqual({ runs: 9, rounds: [{ depth: 1, tried: 7, of: 20 }, expect.anything()] });
});

/** Pays from another wallet. */
const payElsewhere = ({ world: { url, apiKey } }: PayoutApi): Promise<unknown> =>
  connectSandbox({ url }).world(`${apiKey}_b`).pay();

let lastOrder = 0;
testRows<[string, (api: PayoutApi) => Promise<unknown>, Options, string]>([
  [
    'fails by itself',
    () => Promise.reject(new Error('no money')),
    {},
    'no money; no request used the key of the run',
  ],
  [
    'sends nothing',
    () => Promise.resolve(),
    {},
    'no request used the key of the run: does the client use its url and its key? A command gets them with --env',
  ],
  [
    'pays something else each time',
    (api) => api.initiate(order((lastOrder += 1))),
    {},
    'is not deterministic enough: of two runs without failures, only the first has "initiate of payout 1, attempt 1 (000123451001, 101): 200 PENDING, committed"',
  ],
  [
    'uses another key once a send has failed',
    async (api) => (await api.initiate(order(1))).http === 200 || payElsewhere(api),
    {},
    'the command uses several worlds, and a hunt is about one: let it use only the key that it gets',
  ],
  ['uses only another key', payElsewhere, {}, 'no request used the key of the run'],
  [
    'never ends',
    () => new Promise(() => undefined),
    { time: '20ms' },
    'must succeed in time, but it had not ended after',
  ],
  [
    'sends no reference that the intent reads',
    (api) => api.initiate(order(1)),
    { intent: { client_ref_id: '^(invoice-\\d+)' } },
    'without any failure, the intent reads none of 1 reference',
  ],
  [
    'has an unknown option',
    () => Promise.resolve(),
    { goal: ['lost'] } as never,
    'there is no option goal (did you mean goals?)',
  ],
])('a client that cannot be hunted is refused with the reason', async (_what, run, options, message) => {
  await expect(huntFor(run, options)).rejects.toThrow(message);
});

testRows<[reported: string, afterwards: string | undefined, findings: readonly object[]]>([
  [
    'paid',
    undefined,
    [
      {
        goal: 'misreported',
        message:
          'order-1 is PENDING (₹101.00), but the client reports that it was paid, which it cannot know',
      },
    ],
  ],
  ['done', undefined, []],
  [
    'failed',
    undefined,
    [{ message: 'order-1 was last seen PENDING (₹101.00), but the client reports a failure' }],
  ],
  ['in-doubt', undefined, []],
  ['paid', 'order-1-again', []], // it was paid under another reference
])('a client that says more than it knows has misreported it', async (reported, second, findings) => {
  const run: HuntOptions['run'] = async (world) => {
    let isPaid = false;
    await PayoutApi.run(world, async (api) => {
      const paid = async (reference: string): Promise<boolean> => {
        await api.initiate(order(1, { client_ref_id: reference }));
        return (await api.status({ client_ref_id: reference })).state === 'SUCCESS';
      };
      isPaid = (await paid('order-1')) || (second !== undefined && (await paid(second)));
    });
    return isPaid ? 'paid' : reported;
  };
  const found = await hunt({ run, goals: ['misreported'], depth: 1 });
  expect(found.findings).toMatchObject(findings);
});

test('a hunt says which account the client pays several times even without any failure', async () => {
  const run: HuntOptions['run'] = (world) =>
    PayoutApi.run(world, async (api) => {
      await api.initiate(order(1));
      await api.initiate(order(1, { client_ref_id: 'twice' }));
    });
  const { paidSeveralTimes } = await hunt({ run, runs: 2 });
  expect(paidSeveralTimes).toEqual(['000123451001 is paid ₹101.00 twice']);
  expect((await hunt({ run, runs: 2, intent: 'client_ref_id' })).paidSeveralTimes).toEqual([]);
});

test('a run that was stopped does not start its client, and one that has ended leaves no timer behind', async () => {
  const clock = new ManualClock();
  let runs = 0;
  const client = () => {
    runs += 1;
    return Promise.resolve({ kind: 'success' as const });
  };
  const run = (signal: AbortSignal) => runClient(client, {} as World, 60_000, signal, clock);
  expect([(await run(AbortSignal.abort())).ending.kind, runs]).toEqual(['stuck', 0]);
  const { ending } = await run(new AbortController().signal);
  expect([ending.kind, runs, clock.timers]).toEqual(['success', 1, 0]);
});
