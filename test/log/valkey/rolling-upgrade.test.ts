import { describe, expect, test } from 'vitest';
import { FORMAT, keysOf } from '../../../src/log/valkey/scripts.ts';
import { connectSandbox } from '../../../src/index.ts';
import { freshStore, redisAt } from '../../support/store/fresh-store.ts';
import { buildNewerProgram } from './newer-program.ts';
import { logLines, startProgram } from '../../support/program.ts';
import { clientOf } from '../../support/sandbox.ts';
import { isLong } from '../../support/size.ts';

const ADMIN_TOKEN = 'the-token-of-the-admin';

describe('a rolling upgrade', () => {
  test.each(isLong ? ['version'] : [])(
    'leaves every world with a server: a newer %s raises its format, and the older one says so and leaves it alone',
    async () => {
      const store = await freshStore();
      const environment = {
        SANDBOX_STORE: store,
        SANDBOX_ADMIN_TOKEN: ADMIN_TOKEN,
        SANDBOX_SETTLEMENT: 'manual',
      };
      const older = await startProgram(environment);
      const newer = await startProgram(environment, [], await buildNewerProgram());
      const at = (url: string, key: string) => clientOf(connectSandbox({ url }).world(key));
      const [one, same] = [at(older.url, 'sk_test_raised'), at(newer.url, 'sk_test_raised')];
      const [other, sameOther] = [at(older.url, 'sk_test_kept'), at(newer.url, 'sk_test_kept')];
      const redis = redisAt(store);
      const { id } = await one.world.summary();
      const { head, log } = keysOf(id);
      const inStore = async () => [await redis.hgetall(head), await redis.xrange(log, '-', '+')];

      for (const [nth, client] of [one, same, other, sameOther, one].entries())
        expect((await client.pay({ client_ref_id: `before-${nth}`, amount: 10 })).status).toBe(200);
      expect(await redis.hget(head, 'format')).toBe(String(FORMAT));

      await same.world.restore(await same.world.snapshot()); // which the newer program writes a snapshot after
      await expect.poll(() => redis.hget(head, 'format')).toBe(String(FORMAT + 1));
      const before = await inStore();
      const refused = {
        status: 503,
        body: { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('update this server') },
      };
      expect(await one.pay({ client_ref_id: 'after', amount: 10 })).toMatchObject(refused);
      expect(await one.balance()).toMatchObject(refused);
      expect(await inStore()).toEqual(before);
      const health = async (url: string) => (await fetch(`${url}/_sandbox/health`)).status;
      expect([await health(older.url), await health(newer.url)]).toEqual([200, 200]);

      expect((await same.pay({ client_ref_id: 'after', amount: 10 })).status).toBe(200);
      expect(await same.world.summary()).toMatchObject({ balance: 999_960, invariants: 'hold' });
      for (const client of [other, sameOther])
        expect((await client.balance()).body.data.balance).toBe(999_980);

      await connectSandbox({ url: newer.url, adminToken: ADMIN_TOKEN }).dropWorld(id);
      expect(await health(older.url)).toBe(200);
      const warnings = logLines((await older.program.stop()).stdout).filter(
        ({ level }) => Number(level) >= 40,
      );
      expect(warnings).toMatchObject([{ msg: expect.stringContaining('newer version') }]);
    },
  );
});
