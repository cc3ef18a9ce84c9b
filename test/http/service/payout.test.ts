import { expect, test } from 'vitest';
import { clientFor, sandboxFor } from '../../support/sandbox.ts';
import { testRows } from '../../support/test-rows.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('an accepted payout is answered with exactly the fields of the payout API', async () => {
  const { client } = await sandboxFor();
  const { status, text, body, headers } = await client().pay();
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(Object.keys(body)).toEqual(['status', 'message', 'data']);
  expect(body).toEqual({
    status: 'success',
    message: 'Payout initiated successfully',
    data: {
      txn_id: expect.stringMatching(/^TXN[0-9A-F]{24}$/),
      client_ref_id: 'order-1',
      status: 'PENDING',
      amount: 1500.5,
      utr: null,
      created_at: expect.stringMatching(ISO),
    },
  });
  expect(text).toContain('"utr":null');
});

test('a rule sends a header several times, a time in the form of its header, and no content with a 204', async () => {
  const { pay, world } = await clientFor({ clock: '2026-01-15T10:30:00Z' });
  const headers = {
    'Set-Cookie': ['a=1', 'b={{client_ref_id}}'],
    'Retry-After': '{{now}}',
    'X-At': '{{now}}',
  };
  await world.rule({ effect: { respond: { status: 204, headers } } });
  const { status, text, headers: seen } = await pay();
  expect({ status, text, type: seen.get('content-type') }).toEqual({ status: 204, text: '', type: null });
  expect(seen.getSetCookie()).toEqual(['a=1', 'b=order-1']);
  expect(seen.get('retry-after')).toBe('Thu, 15 Jan 2026 10:30:00 GMT');
  expect(seen.get('x-at')).toBe('2026-01-15T10:30:00.000Z');
});

test('HEAD gets the headers of GET without a body, is in the journal, and tells its client no state', async () => {
  const { client } = await sandboxFor({ clock: '2026-01-15T10:30:00Z' });
  const { send, pay, world } = client();
  await world.rule({ match: { route: 'initiate' }, effect: { commit: true, respond: { status: 500 } } });
  await pay();
  const heads = [];
  const paths = [
    '/payout/status?client_ref_id=order-1',
    '/payout/status',
    '/client/fetchbalance',
    '/_sandbox',
  ];
  for (const path of paths) heads.push(await send('HEAD', path));
  const entries = await world.requests();
  expect(entries.slice(1)).toMatchObject([
    { route: 'status', request: { method: 'HEAD' }, answer: { status: 200, body: null } },
    { route: 'status', request: { method: 'HEAD' }, answer: { status: 400, body: null } },
    { route: 'balance', request: { method: 'HEAD' }, answer: { status: 200, body: null } },
  ]);
  expect((await world.transactions())[0]).toMatchObject({ at_risk: true, told: null });
  for (const [nth, path] of paths.entries()) {
    const get = await send('GET', path);
    const { 'x-sandbox-request-id': _id, ...headers } = Object.fromEntries(get.headers);
    // real time, whatever the clock of the world says
    expect(Math.abs(Date.now() - Date.parse(headers['date']!))).toBeLessThan(60_000);
    for (const name of ['date', 'connection', 'keep-alive']) delete headers[name]; // of the message, not of the resource
    expect(heads[nth]).toMatchObject({ status: get.status, text: '' });
    expect(Object.fromEntries(heads[nth]!.headers)).toMatchObject(headers);
  }
});

test('the balance is answered with exactly the fields of the payout API and follows every payout', async () => {
  const world = await clientFor({ openingBalance: '2000.50' });
  const before = await world.balance();
  expect(before.body).toEqual({
    status: 'success',
    data: { balance: 2000.5, currency: 'INR', last_updated: expect.stringMatching(ISO) },
  });
  const paid = await world.pay({ amount: 0.01 });
  const after = await world.balance();
  expect(after.body.data.balance).toBe(2000.49);
  expect(after.body.data.last_updated).toBe(paid.body.data.created_at);
});

test('status finds a payout by txn_id, by client_ref_id or by both, with exactly the fields of the payout API', async () => {
  const world = await clientFor({ settlement: 'manual' });
  const { txn_id, created_at } = (await world.pay()).body.data;
  const byReference = await world.status({ client_ref_id: 'order-1' });
  expect(byReference.status).toBe(200);
  expect(byReference.body).toEqual({
    status: 'success',
    data: {
      txn_id,
      client_ref_id: 'order-1',
      status: 'PENDING',
      amount: 1500.5,
      utr: null,
      beneficiary_name: 'Asha Rao',
      beneficiary_account: '000123456789',
      created_at,
      completed_at: null,
    },
  });
  expect((await world.status({ txn_id })).text).toBe(byReference.text);
  expect((await world.status({ txn_id, client_ref_id: 'order-1' })).text).toBe(byReference.text);
});

test('a status request without a txn_id or client_ref_id is refused, and both fields are named', async () => {
  const world = await clientFor();
  expect(await world.status({})).toMatchObject({
    status: 400,
    body: {
      code: 'INVALID_REQUEST',
      errors: [
        { field: 'client_ref_id', message: 'client_ref_id or txn_id is required' },
        { field: 'txn_id', message: 'client_ref_id or txn_id is required' },
      ],
    },
  });
  expect(await world.status({ txn_id: '' })).toMatchObject({
    status: 400,
    body: { errors: [{ field: 'txn_id', message: 'txn_id must not be empty' }] },
  });
  expect(await world.send('GET', '/payout/status?txn_id=a&txn_id=b')).toMatchObject({
    status: 400,
    body: { errors: [{ field: 'txn_id', message: 'txn_id must be given once, as a string' }] },
  });
});

type Body = Record<string, unknown>;

testRows<[field: string, change: Body, first?: Body]>([
  ['amount', { amount: 1500.51 }],
  ['beneficiary_name', { beneficiary_name: 'Asha R' }],
  ['beneficiary_account', { beneficiary_account: '00123456789' }],
  ['beneficiary_ifsc', { beneficiary_ifsc: 'SBIN0000002' }],
  ['transfer_mode', { transfer_mode: 'NEFT' }],
  ['remarks', { remarks: 'second try' }],
  ['long remarks', { remarks: 'a salary for many hours' }, { remarks: 'a salary of many years' }],
])(
  'a repeated reference with another value in any field is refused and changes nothing',
  async (_field, change, first) => {
    const world = await clientFor();
    const { txn_id } = (await world.pay(first)).body.data;
    const refused = await world.pay(change);
    expect(refused).toMatchObject({
      status: 400,
      body: { status: 'error', code: 'DUPLICATE_REFERENCE', errors: [{ field: 'client_ref_id' }] },
    });
    expect(refused.body.message).toContain(txn_id);
    expect((await world.balance()).body.data.balance).toBe(998_499.5);
  },
);

test('leading zeros, other scripts and combining marks are returned unchanged', async () => {
  const world = await clientFor();
  const names = {
    client_ref_id: 'ऑर्डर-१ 🧾',
    beneficiary_name: 'Jose\u0301 अनन्या',
    beneficiary_account: '000000000000',
  };
  await world.pay({ ...names, remarks: '<img onerror=alert(1)> '.repeat(1000) });
  expect((await world.status({ client_ref_id: names.client_ref_id })).body.data).toMatchObject(names);
});
