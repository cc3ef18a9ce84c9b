import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startTarget } from '../../trials/support/attack/attack-target.ts';
import { rawRequest } from '../../support/http/raw-socket.ts';
import { sized } from '../../support/size.ts';

test('connections that request large files and never read them take hardly any memory', async () => {
  const target = await startTarget({ SANDBOX_LOG_LEVEL: 'warn' });
  const page = await (await fetch(`${target.url}/_sandbox/`)).text();
  const [, script] = /src="\.?\/?(assets\/[^"]+\.js)"/.exec(page)!;
  const asked = ['openapi.json', script!].map((path) => rawRequest(`GET /_sandbox/${path}`, {}));
  const unread = async (count: number): Promise<void> => {
    for (let nth = 0; nth < count; nth += 1) {
      const socket = target.open();
      // more than the socket buffers can hold
      socket.write(Buffer.concat(Array.from({ length: 16 }, () => asked[nth % asked.length]!)));
      await once(socket, 'data');
      socket.pause();
    }
  };
  await unread(asked.length); // loads all files
  const before = target.memory();
  await unread(sized(60, 200));
  for (let nth = 0; nth < 10; nth += 1) await target.honest.isServed(); // by then the socket buffers are full
  expect(target.memory() - before).toBeLessThan(60);
  await target.honest.isServed();
  await target.stop();
});
