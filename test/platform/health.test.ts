import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ask, nobodyListens } from '../support/program.ts';
import { answersOn, rawRequest, rawSocket } from '../support/http/raw-socket.ts';
import { appFor } from '../support/server.ts';

test('health returns ready while the sandbox serves, and stopping on an open connection while it stops', async () => {
  const { app } = await appFor();
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  expect((await fetch(`${url}/_sandbox/health`)).status).toBe(200);
  const socket = rawSocket(url);
  await once(socket, 'connect');
  const responses = answersOn(socket);
  const health = String(rawRequest('GET /_sandbox/health', {}));
  socket.write(health); // answered, and the connection is kept alive
  await once(socket, 'data');
  socket.write(health.slice(0, 20)); // the next request is in progress when the stop begins
  await ask(`${url}/client/fetchbalance`, 'sk_test_a'); // the part above has been read by now
  const closed = app.close(); // which has as long as it takes: the program ends what is left after 0.8 s
  await nobodyListens(url);
  socket.write(health.slice(20));
  const text = await responses;
  expect(text).toMatch(
    /^HTTP\/1\.1 200 OK\r\n[^]*"status":"ready"[^]*HTTP\/1\.1 503 Service Unavailable\r\n/,
  );
  expect(text).toMatch(/503 [^]*connection: close\r\n[^]*"status":"stopping"/i);
  await closed;
});
