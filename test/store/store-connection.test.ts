import { expect, onTestFinished, test, vi } from 'vitest';
import { StoreConnection } from '../../src/store/store-connection.ts';
import { systemClock } from '../../src/platform/system-clock.ts';
import { withoutPatience } from '../support/store/store-times.ts';

test('what waits for a call to a node that does not answer is not sent to it as well, and other worlds are not affected', async () => {
  const observer = {
    away: vi.fn<() => void>(),
    back: () => undefined,
    warning: () => undefined,
  };
  const url = 'redis+cluster://127.0.0.1:1'; // the calls of this test do not reach it
  const store = new StoreConnection({ url, server: 'one', wallClock: systemClock(), observer });
  onTestFinished(() => store.close());
  const unanswered = vi.fn<() => Promise<never>>(() => Promise.reject(new Error('no response')));
  const waiting = vi.fn<() => Promise<string>>(() => Promise.resolve('sent'));

  const unavailable = { code: 'STORE_UNAVAILABLE' };
  const refusals: unknown[] = [];
  await withoutPatience(() => store.use(unanswered, 'lost')).catch(async (error: unknown) => {
    refusals.push(error);
    await store.use(waiting, 'lost').catch((second: unknown) => refusals.push(second));
  });
  expect(refusals).toMatchObject([unavailable, unavailable]);
  expect(unanswered.mock.calls.length).toBe(1);
  expect(waiting).not.toHaveBeenCalled();
  expect(await store.use(waiting, 'other')).toBe('sent');
  const again = () => store.use(waiting, 'lost').catch(() => 'refused');
  await expect.poll(again).toBe('sent');
  expect(observer.away).not.toHaveBeenCalled();
});
