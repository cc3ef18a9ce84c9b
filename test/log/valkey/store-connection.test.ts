import { expect, onTestFinished, test, vi } from 'vitest';
import { StoreConnection } from '../../../src/log/valkey/store-connection.ts';
import { retriedCalls } from '../../../src/log/valkey/store-calls.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { withoutPatience } from '../../support/store/store-times.ts';
import { laterClock } from '../../support/world/later-clock.ts';

test('what waits for a call to a node that does not answer is not sent to it as well, and other worlds are not affected', async () => {
  const observer = {
    away: vi.fn<() => void>(),
    back: () => undefined,
    warning: () => undefined,
    lost: () => undefined,
  };
  const url = 'redis+cluster://127.0.0.1:1'; // the calls of this test do not reach it
  const store = new StoreConnection({ url, server: 'one', wallClock: systemClock(), observer });
  onTestFinished(() => store.close());
  const unanswered = vi.fn<() => Promise<never>>(() => Promise.reject(new Error('no response')));
  const waiting = vi.fn<() => Promise<string>>(() => Promise.resolve('sent'));

  const unavailable = { code: 'STORE_UNAVAILABLE' };
  const refusals: unknown[] = [];
  await withoutPatience(() => store.reliably(unanswered, 'lost')).catch(async (error: unknown) => {
    refusals.push(error);
    await store.reliably(waiting, 'lost').catch((second: unknown) => refusals.push(second));
  });
  expect(refusals).toMatchObject([unavailable, unavailable]);
  expect(unanswered.mock.calls.length).toBeGreaterThan(1);
  expect(waiting).not.toHaveBeenCalled();
  expect(await store.reliably(waiting, 'other')).toBe('sent');
  const again = () => store.reliably(waiting, 'lost').catch(() => 'refused');
  await expect.poll(again).toBe('sent');
  expect(observer.away).not.toHaveBeenCalled();
});

test('a call is repeated once, however long the process was busy with the first', async () => {
  const { wallClock, later } = laterClock();
  const calls = retriedCalls(wallClock, () => undefined);
  const work = vi
    .fn<() => Promise<string>>(async () => 'there')
    .mockImplementationOnce(async () => {
      later(60_000);
      throw new Error('the connection broke');
    });
  expect(await calls.retry(work)).toBe('there');
});
