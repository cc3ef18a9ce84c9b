import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { TRANSFER_MODES, type TransferMode } from '../../src/contract/service.ts';
import { heldBy } from '../support/control.ts';
import { clientFor, PAYOUT, type Client } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

const CLOCK = '2026-01-15T10:30:00Z'; // 16:00 in India

const shipped = (kind: 'scenarios' | 'dialects') => {
  const folder = new URL(`../../fixtures/${kind}/`, import.meta.url);
  return readdirSync(folder).map((file) => ({
    name: basename(file, '.yaml'),
    text: readFileSync(new URL(file, folder), 'utf8'),
  }));
};

/** What a story uses: a client under the scenario, and the true state of the world. */
interface Stage {
  /** The client under the scenario. */
  readonly world: Client;
  /** The true state of a payout. */
  readonly payout: (reference?: string) => Promise<{ readonly status: string; readonly utr: string | null }>;
  readonly state: (reference?: string) => Promise<unknown>;
  /** What has been paid from the wallet since the story began, in INR. */
  readonly spent: () => Promise<number>;
  /** Sends the initiate of order-1, waits until the journal says that it hangs, and disconnects without a response. */
  readonly leave: () => Promise<void>;
}

async function stageOf(world: Client): Promise<Stage> {
  const payout = (reference = 'order-1') => world.world.payout(reference);
  const opening = await world.world.balance();
  return {
    world,
    payout,
    state: (reference) =>
      payout(reference).then(
        ({ status }) => status,
        () => 404,
      ),
    spent: async () => Math.round((opening - (await world.world.balance())) * 100) / 100,
    async leave() {
      const left = new AbortController();
      const asked = world.pay({}, {}, left.signal);
      const requests = () => world.world.requests();
      const hanging = expect.objectContaining({ outcome: 'pending', fault: 'hang' });
      await expect.poll(requests).toContainEqual(hanging);
      left.abort();
      await expect(asked).rejects.toThrow('aborted');
    },
  };
}

/** Reads a status so many times. @returns what each showed: the state of the payout, or the status of a refusal */
async function statesRead(world: Client, count: number, reference = 'order-1'): Promise<unknown[]> {
  const states: unknown[] = [];
  while (states.length < count) {
    const { status, body } = await world.status({ client_ref_id: reference });
    states.push(status === 200 ? body.data.status : status);
  }
  return states;
}

/** Pays 100 INR in each mode, with the mode as the reference. */
const payInEachMode = async (world: Client): Promise<void> => {
  for (const mode of TRANSFER_MODES) {
    const paid = await world.pay({ client_ref_id: mode, transfer_mode: mode, amount: 100 });
    expect(paid.body.data).toMatchObject({ status: 'PENDING', utr: null });
  }
};

const aUtr = { utr: expect.any(String) };
const noUtr = { utr: null };

/** Pays in each mode; after each wait, all payouts are in this state, with this amount paid from the wallet. */
const proceeds =
  (...steps: readonly (readonly [wait: string, state: string, paid: number, more?: object])[]) =>
  async ({ world, payout, spent }: Stage): Promise<void> => {
    await payInEachMode(world);
    for (const [wait, status, paid, more = {}] of steps) {
      await world.clock.advance(wait);
      for (const mode of TRANSFER_MODES) expect(await payout(mode)).toMatchObject({ status, ...more });
      expect(await spent()).toBe(paid);
    }
  };

/** Expects that the payout was made once, and that a retry finds it. */
async function expectRetryFinds({ world, state, spent }: Stage): Promise<void> {
  expect([await state(), await spent()]).toEqual(['PENDING', 1500.5]);
  const again = await world.pay();
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  expect(await spent()).toBe(1500.5);
}

/** Expects that no payout was made, and that a retry makes it. */
async function expectRetryMakes({ world, state, spent }: Stage): Promise<void> {
  expect([await state(), await spent()]).toEqual([404, 0]);
  const again = await world.pay();
  expect([again.status, again.headers.has('idempotent-replayed')]).toEqual([200, false]);
  expect([await state(), await spent()]).toEqual(['PENDING', 1500.5]);
}

async function expectPage(world: Client, expected: number, title: string): Promise<void> {
  const { status, headers, text } = await world.pay();
  expect([status, headers.get('content-type')]).toEqual([expected, 'text/html']);
  expect(text).toContain(`<h1>${expected} ${title}</h1>`);
}

/** Sends one initiate until it gets the normal response. @returns the number of attempts */
async function payUntilAnswered(world: Client, reference: string): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const answer = await world.pay({ client_ref_id: reference, amount: 10 }).catch(() => undefined);
    if (answer?.status === 200 && answer.body !== undefined) return tries;
  }
}

const times = <T>(count: number, make: (nth: number) => T): T[] =>
  Array.from({ length: count }, (_, nth) => make(nth));

/** The promise in the description of each shipped scenario, as a test. */
const STORIES: Record<string, (stage: Stage) => Promise<void>> = {
  'happy-fast': proceeds(['0s', 'SUCCESS', 400, aUtr]),
  'pending-for-days': proceeds(['71h', 'PENDING', 400], ['1h', 'SUCCESS', 400, aUtr]),
  'fails-late': proceeds(['119m', 'PENDING', 400], ['1m', 'FAILED', 0, noUtr], ['30d', 'FAILED', 0, noUtr]),
  'success-then-reversed': proceeds(['2s', 'SUCCESS', 400, aUtr], ['3d', 'REVERSED', 0, aUtr]),
  'pending-then-reversed': proceeds(['59m', 'PENDING', 400], ['30d', 'REVERSED', 0]),
  'utr-late': proceeds(['91s', 'SUCCESS', 400, noUtr], ['1s', 'SUCCESS', 400, aUtr]),
  'utr-early': proceeds(['1s', 'PENDING', 400, aUtr], ['59s', 'SUCCESS', 400, aUtr]),
  'insufficient-balance': async ({ world, state, spent }) => {
    const refused = await world.pay({ amount: 1000.01 });
    expect([refused.status, refused.body.code]).toEqual([402, 'INSUFFICIENT_BALANCE']);
    expect([await state(), await spent()]).toEqual([404, 0]);
    expect((await world.pay({ amount: 1000 })).status).toBe(200);
    expect(await spent()).toBe(1000);
  },
  'rate-limited': async ({ world, state, spent }) => {
    const answers = await Promise.all(
      times(40, (nth) => world.pay({ client_ref_id: `order-${nth}`, amount: 10 })),
    );
    const refused = times(40, (nth) => nth).filter((nth) => answers[nth]!.status === 429);
    for (const nth of refused) {
      expect(answers[nth]!.headers.get('retry-after')).toMatch(/^([1-9]|10)$/);
      expect(await state(`order-${nth}`)).toBe(404);
    }
    expect(await spent()).toBe(10 * (40 - refused.length));
    expect((await world.balance()).status).toBe(200);
    expect(refused).toHaveLength(35);
    await world.clock.advance('10s');
    expect((await world.pay({ client_ref_id: 'order-40', amount: 10 })).status).toBe(200);
  },
  'one-bank-at-night': async ({ world, state, spent }) => {
    const DEMO = { transfer_mode: 'NEFT', beneficiary_ifsc: 'DEMO0000001', amount: 10 } as const;
    const pay = (reference: string, change = {}) =>
      world.pay({ ...DEMO, client_ref_id: reference, ...change });
    expect((await pay('by-day')).status).toBe(200);
    await world.clock.advance('4h'); // 20:00 in India
    for (const change of [{ transfer_mode: 'IMPS' }, { beneficiary_ifsc: 'SBIN0000001' }] as const)
      expect((await pay(`other-${JSON.stringify(change).length}`, change)).status).toBe(200);
    const statuses = [];
    for (const reference of ['a', 'a', 'b', 'b']) statuses.push((await pay(reference)).status);
    expect(statuses).toEqual([500, 200, 500, 429]);
    expect(await spent()).toBe(50);
    for (let nth = 0; nth < 60; nth += 1) {
      if (nth % 3 === 0) await world.clock.advance('10s');
      expect((await pay(`order-${nth}`)).status).toBe(500);
    }
    await world.clock.advance('40m');
    for (let nth = 0; nth < 60; nth += 1) expect(await state(`order-${nth}`)).toBe('SUCCESS');
    expect(await spent()).toBe(650);
    await world.clock.advance('3d');
    const reversed = (650 - (await spent())) / 10;
    expect(reversed).toBeGreaterThanOrEqual(2);
    expect(reversed).toBeLessThanOrEqual(14);
  },
  'server-error': async ({ world, state, spent }) => {
    for (let nth = 1; nth <= 3; nth += 1) expect((await world.pay()).status).toBe(500);
    expect([await state(), await spent()]).toEqual([404, 0]);
    expect((await world.balance()).status).toBe(200);
  },
  'server-error-after-commit': async (stage) => {
    expect((await stage.world.pay()).status).toBe(500);
    await expectRetryFinds(stage);
    expect((await stage.world.pay({ client_ref_id: 'order-2' })).status).toBe(500);
    expect(await stage.spent()).toBe(3001);
  },
  'timeout-before-commit': async (stage) => {
    await stage.leave();
    await expectRetryMakes(stage);
  },
  'timeout-after-commit': async (stage) => {
    await stage.leave();
    await expectRetryFinds(stage);
  },
  'success-before-answer': async ({ world, state }) => {
    const paying = world.pay();
    const [held] = await heldBy(world.world, 1);
    expect((await world.status({ client_ref_id: 'order-1' })).body.data.status).toBe('SUCCESS');
    await held!.release();
    expect((await paying).body.data.status).toBe('PENDING');
    expect(await state()).toBe('SUCCESS');
    expect((await world.pay()).headers.get('idempotent-replayed')).toBe('true');
  },
  'two-workers': async ({ world, state, spent }) => {
    const first = world.pay({ amount: 1 });
    await heldBy(world.world, 1);
    const second = world.pay({ amount: 2 });
    const [one, other] = await heldBy(world.world, 2);
    expect(await state()).toBe(404);
    await other!.release();
    await one!.release();
    expect([(await first).status, (await second).status]).toEqual([400, 200]);
    expect(await spent()).toBe(2);
    expect((await world.pay({ amount: 2 })).status).toBe(200);
  },
  'reset-after-commit': async (stage) => {
    await expect(stage.world.pay()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
    await expectRetryFinds(stage);
  },
  'truncated-answer': async (stage) => {
    await expect(stage.world.pay()).rejects.toMatchObject({
      message: 'terminated',
      cause: { code: 'UND_ERR_SOCKET' },
    });
    await expectRetryFinds(stage);
  },
  'malformed-json': async (stage) => {
    const { status, text, body } = await stage.world.pay();
    expect([status, body]).toEqual([200, undefined]);
    expect(text).toMatch(/^\{"status":"success".*[^}]\}$/);
    await expectRetryFinds(stage);
  },
  'gateway-html': async (stage) => {
    await expectPage(stage.world, 502, 'Bad Gateway');
    await expectRetryMakes(stage);
  },
  'gateway-timeout-after-commit': async (stage) => {
    await expectPage(stage.world, 504, 'Gateway Time-out');
    await expectRetryFinds(stage);
  },
  'not-found-then-found': async ({ world, spent }) => {
    expect((await world.pay()).status).toBe(200);
    expect(await spent()).toBe(1500.5);
    expect(await statesRead(world, 4)).toEqual([404, 404, 404, 'PENDING']);
    expect(await spent()).toBe(1500.5);
  },
  'stale-reads': async ({ world, state, spent }) => {
    await world.pay();
    await world.clock.advance('2s');
    expect((await statesRead(world, 20)).join(' ')).toContain('SUCCESS PENDING');
    expect([await state(), await spent()]).toEqual(['SUCCESS', 1500.5]);
    await world.clock.advance('30s');
    expect(new Set(await statesRead(world, 20))).toEqual(new Set(['SUCCESS']));
  },
  'error-in-200': async (stage) => {
    const { status, body } = await stage.world.pay();
    expect([status, body.status, body.data]).toEqual([200, 'error', undefined]);
    await expectRetryMakes(stage);
  },
  'error-in-200-after-commit': async (stage) => {
    const { status, body } = await stage.world.pay();
    expect([status, body.status, body.data]).toEqual([200, 'error', undefined]);
    await expectRetryFinds(stage);
  },
  'vanishing-payout': async ({ world, state, spent }) => {
    expect((await world.pay()).body.data.status).toBe('PENDING');
    await world.clock.advance('30d');
    expect(await statesRead(world, 3)).toEqual([404, 404, 404]);
    expect([await state(), await spent()]).toEqual(['SUCCESS', 1500.5]);
  },
  'pending-for-good': proceeds(['365d', 'PENDING', 400]),
  'stale-balance': async ({ world, spent }) => {
    const before = (await world.balance()).body.data;
    await world.pay();
    await world.clock.advance('599s');
    expect([(await world.balance()).body.data, await spent()]).toEqual([before, 1500.5]);
    await world.clock.advance('1s');
    expect((await world.balance()).body.data.balance).toBe(before.balance - 1500.5);
  },
  'reference-expires': async (stage) => {
    const first = await stage.world.pay();
    await stage.world.clock.advance('23h');
    expect((await stage.world.pay()).body.data.txn_id).toBe(first.body.data.txn_id);
    await stage.world.clock.advance('1h');
    const { data } = (await stage.world.pay()).body;
    expect([data.status, await stage.spent()]).toEqual(['PENDING', 3001]);
    expect((await stage.world.status({ client_ref_id: 'order-1' })).body.data.txn_id).toBe(data.txn_id);
  },
  'slow-bank': async ({ world, payout, spent }) => {
    const paying = times(21, (nth) =>
      world.pay({ client_ref_id: `order-${nth}`, transfer_mode: nth === 0 ? 'NEFT' : 'IMPS', amount: 10 }),
    );
    const delays = async () =>
      (await world.world.requests({ route: 'initiate' })).map(({ delay_ms }) => delay_ms!);
    await expect.poll(delays).toHaveLength(21);
    const delaysMs = (await delays()).toSorted((a, b) => a - b);
    expect(delaysMs[0]).toBeGreaterThan(50);
    expect(delaysMs[10]).toBeGreaterThan(200);
    expect(await spent()).toBe(210);
    await world.clock.advance('29m');
    expect(await payout('order-1')).toMatchObject({ status: 'SUCCESS', ...aUtr });
    expect(await payout('order-0')).toMatchObject({ status: 'PENDING' });
    await world.clock.advance('121m');
    expect(await payout('order-0')).toMatchObject({ status: 'SUCCESS', ...aUtr });
    await world.world.reset(); // sends the responses that are still delayed
    for (const { status } of await Promise.all(paying)) expect(status).toBe(200);
  },
  'bank-holiday-cut-off': async ({ world }) => {
    let nth = 0;
    const paid = async (...modes: readonly TransferMode[]) => {
      const statuses = [];
      for (const transfer_mode of modes)
        statuses.push(
          (await world.pay({ client_ref_id: `order-${nth++}`, transfer_mode, amount: 100 })).status,
        );
      return statuses;
    };
    await world.clock.advance({ to: '2026-01-23T23:59' }); // a Friday in India
    expect(await paid('NEFT', 'RTGS')).toEqual([200, 200]);
    await world.clock.advance('1m'); // the fourth Saturday
    expect(await paid('NEFT', 'RTGS', 'IMPS', 'UPI')).toEqual([503, 503, 200, 200]);
    await world.clock.advance('2d'); // Republic Day
    expect(await paid('NEFT')).toEqual([503]);
    await world.clock.advance('1d');
    expect(await paid('NEFT')).toEqual([200]);
  },
  'night-cut-off': async ({ world, payout }) => {
    await world.pay({ transfer_mode: 'NEFT' });
    await world.clock.advance('4h'); // 20:00 in India
    expect(await payout()).toMatchObject({ status: 'SUCCESS' });
    await payInEachMode(world);
    await world.clock.advance('10h');
    await world.clock.advance('59m');
    for (const mode of ['IMPS', 'UPI']) expect(await payout(mode)).toMatchObject({ status: 'SUCCESS' });
    for (const mode of ['NEFT', 'RTGS']) expect(await payout(mode)).toMatchObject({ status: 'PENDING' });
    await world.clock.advance('1m');
    const morning = { status: 'SUCCESS', completed_at: '2026-01-16T01:30:00.000Z', ...aUtr };
    for (const mode of ['NEFT', 'RTGS']) expect(await payout(mode)).toMatchObject(morning);
  },
  'flaky-day': async ({ world, spent }) => {
    const isRead = (reference: string): Promise<boolean> =>
      world.status({ client_ref_id: reference }).then(
        ({ body }) => body?.data !== undefined,
        () => false,
      );
    const orders = await Promise.all(
      times(100, async (nth) => {
        const tries = await payUntilAnswered(world, `order-${nth}`);
        return { wasTroubled: tries > 1, isLost: !(await isRead(`order-${nth}`)) };
      }),
    );
    for (const what of ['wasTroubled', 'isLost'] as const) {
      const count = orders.filter((order) => order[what]).length;
      expect(count).toBeGreaterThanOrEqual(4);
      expect(count).toBeLessThanOrEqual(16);
    }
    expect(await spent()).toBe(1000);
  },
  'duplicates-rejected': async ({ world, state, spent }) => {
    expect((await world.pay()).status).toBe(200);
    for (const amount of [PAYOUT.amount, 1]) {
      const { status, body } = await world.pay({ amount });
      expect([status, body.code]).toEqual([409, 'REFERENCE_CONFLICT']);
    }
    expect([await state(), await spent()]).toEqual(['PENDING', 1500.5]);
    expect((await world.status({ client_ref_id: 'order-1' })).status).toBe(200);
  },
  'terse-errors': async ({ world, state, spent }) => {
    const refused = await world.pay({ amount: 0 });
    expect([refused.status, refused.text]).toEqual([400, '']);
    const unknown = await world.status({ client_ref_id: 'order-1' });
    expect([unknown.status, unknown.text]).toEqual([404, '']);
    await world.pay();
    expect([await state(), await spent()]).toEqual(['PENDING', 1500.5]);
  },
  strict: async ({ world, spent }) => {
    const sloppy = [
      ['beneficiary_ifsc', { beneficiary_ifsc: 'sbin0000001' }],
      ['beneficiary_account', { beneficiary_account: '12345' }],
      ['amount', { transfer_mode: 'RTGS' }],
      ['note', { note: 'no such field' }],
    ] as const;
    for (const [field, change] of sloppy) {
      const { status, body } = await world.pay(change);
      expect([status, body.errors[0].field]).toEqual([400, field]);
    }
    expect(await spent()).toBe(0);
    expect((await world.pay()).status).toBe(200);
    expect((await world.pay()).status).toBe(409);
    expect(await spent()).toBe(1500.5);
  },
  'bank-has-a-bad-day': async ({ world, payout, spent }) => {
    const large = { client_ref_id: 'rtgs-1', transfer_mode: 'RTGS', amount: 200_000 };
    expect((await world.pay(large)).status).toBe(402);
    expect((await world.pay(large)).status).toBe(402);
    expect((await world.pay(large)).status).toBe(200);
    await world.pay({ client_ref_id: 'neft-1', transfer_mode: 'NEFT', amount: 100 });
    await world.pay({ client_ref_id: 'upi-3', transfer_mode: 'UPI', amount: 100 });
    expect(await spent()).toBe(200_200);
    expect(await statesRead(world, 3, 'upi-3')).toEqual(['PENDING', 'PENDING', 'SUCCESS']);

    const lost: number[] = [];
    for (let nth = 1; nth <= 10; nth += 1)
      await world.pay({ client_ref_id: `order-${nth}`, amount: 10 }).catch(() => lost.push(nth));
    expect(lost).toHaveLength(1);
    expect(await payout(`order-${lost[0]}`)).toMatchObject({ status: 'PENDING' });

    await world.clock.advance('90s');
    expect(await payout('rtgs-1')).toMatchObject({ status: 'SUCCESS', ...aUtr });
    await world.clock.advance('39m');
    expect(await payout('neft-1')).toMatchObject({ status: 'FAILED' });
    await world.clock.advance('3d');
    expect(await payout('rtgs-1')).toMatchObject({ status: 'REVERSED' });
    expect(await spent()).toBe(200);
  },
};

const SCENARIOS = shipped('scenarios');

test('every shipped scenario is tested in this file', () => {
  expect(Object.keys(STORIES).toSorted()).toEqual(SCENARIOS.map(({ name }) => name).toSorted());
});

testRows(SCENARIOS)(
  'every shipped scenario has a description, and refers editors to the schema',
  ({ text }) => {
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../scenario.schema.json');
    expect(parse(text).description).toMatch(/^[A-Z].{40,}\.$/);
  },
);

test.each(SCENARIOS.map(({ name }) => name))('%s behaves as described', async (name) => {
  const stage = await stageOf(await clientFor({ clock: CLOCK, scenario: name }));
  await STORIES[name]!(stage);
  expect(await stage.spent()).toBeGreaterThanOrEqual(0); // no scenario creates money
});

/** The responses of each shipped dialect to a request with a malformed account, and to its repetition with another amount. */
const DIALECTS: Record<string, readonly number[]> = {
  default: [200, 400],
  strict: [400, 400],
  terse: [200, 400],
  lenient: [200, 200],
};

testRows(shipped('dialects'))(
  'every shipped dialect has a description, and behaves as described',
  async ({ name, text }) => {
    expect(parse(text).description).toMatch(/^[A-Z].{40,}\.$/);
    const world = await clientFor({ scenario: { dialect: name } });
    const malformed = { beneficiary_account: '12345' };
    const answers = [await world.pay(malformed), await world.pay({ ...malformed, amount: 1 })];
    expect(answers.map(({ status }) => status)).toEqual(DIALECTS[name]);
    expect(answers[0]!.headers.has('x-sandbox-warning')).toBe(name === 'default' || name === 'terse');
  },
);
