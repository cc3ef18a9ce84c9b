import { expect, test } from 'vitest';
import { connectSandbox } from '../../src/index.ts';
import { startProgram } from '../support/program.ts';
import { ownStore, proxyBefore } from '../support/store/fresh-store.ts';
import { clientOf } from '../support/sandbox.ts';
import { sized } from '../support/size.ts';

const CUTS = sized(2, 6);

test('a connection to the store that breaks again and again at any command does not end the process, which then goes on', async () => {
  const store = await ownStore('--requirepass', 'secret');
  const { proxy, url: address } = await proxyBefore(store, ':secret@');
  const { program, url } = await startProgram({ SANDBOX_STORE: `${address}/3` });
  const client = clientOf(connectSandbox({ url }).world('sk_test_flapping'));
  await expect.poll(async () => (await client.balance()).status).toBe(200);
  const read = async (): Promise<string> => {
    const reading = new AbortController();
    const events = await client.world.events({ signal: reading.signal });
    const next = events.next();
    await expect.poll(async () => (await client.world.fund(1).catch(() => null)) !== null).toBe(true);
    const { type } = (await next).value!;
    reading.abort();
    return type;
  };
  expect(await read()).toBe('wallet');
  for (const command of ['AUTH', 'INFO', 'SELECT']) {
    proxy.cutAt(command, CUTS);
    await expect
      .poll(async () => {
        proxy.cutAll();
        await read().catch(() => null);
        return [command, proxy.cutsLeft];
      })
      .toEqual([command, 0]);
    await expect.poll(() => read().catch(String)).toBe('wallet');
    expect([command, program.child.exitCode]).toEqual([command, null]);
    expect((await client.balance()).status).toBe(200);
  }
});
