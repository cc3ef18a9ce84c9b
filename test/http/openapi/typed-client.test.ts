import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { Program } from '../../support/program.ts';
import { openapiAt } from '../../support/http/openapi.ts';
import { sandboxFor } from '../../support/sandbox.ts';
import { projectFolder } from '../../support/temporary-folder.ts';

const FIRST_LINES = `import createClient from 'openapi-fetch';
import type { paths } from './openapi.js';
const client = createClient<paths>({
  baseUrl: process.env['URL']!,
  headers: { authorization: 'Bearer sk_test_typed' },
});
const payout = {
  client_ref_id: 'order-1',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 1500.5,
  transfer_mode: 'IMPS',
} as const;
`;

/** Pays, advances the clock, polls, is refused a payout, and reads lists page by page, all with generated types. */
const RIGHT = `${FIRST_LINES}
const paid = await client.POST('/payout/initiate', { body: payout });
const txn_id: string = paid.data!.data.txn_id;
await client.POST('/_sandbox/clock/advance', { body: { by: '2h' } });
const polled = await client.GET('/payout/status', { params: { query: { txn_id } } });
const utr: string | null = polled.data!.data.utr;
const one = await client.GET('/_sandbox/transactions/{txn_id}', { params: { path: { txn_id } } });
const refused = await client.POST('/payout/initiate', { body: { ...payout, client_ref_id: 'order-2', amount: 1e9 } });
const code: string = refused.error!.code;
for (let n = 3; n <= 6; n += 1) {
  await client.POST('/payout/initiate', { body: { ...payout, client_ref_id: 'order-' + n } });
}
const found: string[] = [];
for (let cursor: number | undefined; ; ) {
  const page = await client.GET('/_sandbox/transactions', { params: { query: { limit: 2, cursor } } });
  found.push(...page.data!.transactions.map(({ client_ref_id }) => client_ref_id));
  const { next } = page.data!;
  if (next === null) break;
  cursor = next;
}
const asked: number[] = [];
for (let since = 0; ; since = asked.at(-1)!) {
  const query = { status: 200, since, order: 'oldest', limit: 2 } as const;
  const { data } = await client.GET('/_sandbox/requests', { params: { query } });
  asked.push(...data!.requests.map(({ id }) => id));
  if (data!.requests.length < query.limit) break;
}
console.log(found.join(), asked.join());
console.log(paid.data!.data.status, polled.data!.data.status, utr!.length, one.data!.legal.join(), refused.response.status, code);
`;

const WRONG = `${FIRST_LINES}
await client.POST('/payout/initiate', { body: { ...payout, transfer_mode: 'SWIFT' } });
await client.POST('/payout/initiate', { body: { ...payout, amount: '1500.50' } });
await client.GET('/payout/state', {});
await client.GET('/_sandbox/transactions/{txn_id}', {});
await client.POST('/_sandbox/rules', { body: { effect: { delay: 7 } } });
await client.GET('/_sandbox/transactions', { params: { query: { cursor: 'next' } } });
`;

test('a client with types generated from the OpenAPI document pays, polls, is refused and reads page by page', async () => {
  const { url } = await sandboxFor({ clock: '2026-01-15T10:30:00Z' });
  const folder = projectFolder(
    ['openapi-fetch', 'openapi-typescript-helpers', '@types/node', 'undici-types'],
    {
      type: 'module',
    },
  );
  const run = (args: readonly string[]) => new Program(process.execPath, args, { URL: url }).ended;
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

  write('openapi.json', await openapiAt(url));
  const generated = await run([
    `--import=${resolve('test/http/openapi/typescript-5.mjs')}`,
    resolve('node_modules/openapi-typescript/bin/cli.js'),
    join(folder, 'openapi.json'),
    `--output=${join(folder, 'openapi.d.ts')}`,
  ]);
  expect(generated).toMatchObject({ code: 0 });

  write('right.ts', RIGHT);
  write('wrong.ts', WRONG);
  const compilerOptions = { strict: true, target: 'es2022', module: 'nodenext', types: ['node'] };
  write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['right.ts', 'wrong.ts'] }));
  const { stdout } = await run([resolve('node_modules/typescript/bin/tsc'), '-p', folder]);
  const errors = [...stdout.matchAll(/(\w+\.ts)\((\d+),\d+\): error/g)].map(([, file, line]) => ({
    file,
    line: WRONG.split('\n')[Number(line) - 1],
  }));
  const wrong = WRONG.split('\n').slice(FIRST_LINES.split('\n').length, -1);
  expect(wrong).toHaveLength(6);
  expect(errors).toEqual(wrong.map((line) => ({ file: 'wrong.ts', line })));

  expect(await run([join(folder, 'right.js')])).toMatchObject({
    code: 0,
    stdout: [
      'order-6,order-5,order-4,order-3,order-1 1,2,4,5,6,7',
      'PENDING SUCCESS 12 REVERSED 402 INSUFFICIENT_BALANCE\n',
    ].join('\n'),
    stderr: '',
  });
});
