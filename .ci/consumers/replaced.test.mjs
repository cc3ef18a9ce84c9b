import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { test, vi } from 'vitest';
import { define, useAll } from './replaced.cjs';

define(test, vi);

// which jest cannot require
test('msw', async () => {
  const server = setupServer(http.all('*', () => HttpResponse.json({})));
  server.listen();
  await useAll().finally(() => server.close());
});
