import { expect, test } from 'vitest';
import { clientFor } from '../../support/sandbox.ts';

test('a response of a rule names the request and the payout that it made, in its body, its headers and its message', async () => {
  const world = await clientFor({
    clock: '2026-01-15T10:30:00Z',
    scenario: {
      rules: [
        {
          name: 'page',
          match: { route: 'initiate', amount: { lt: 100 } },
          effect: {
            commit: true,
            respond: {
              status: 502,
              headers: { 'content-type': 'text/html', 'x-order': '{{client_ref_id}} {{txn_id}}' },
              body: '<p>{{beneficiary_name}} {{amount}} {{status}} at {{now}}, attempt {{attempt}}, {{request_id}}</p>',
            },
          },
        },
        {
          name: 'refusal',
          match: { route: 'initiate', amount: { gte: 1000 } },
          effect: { respond: { status: 422, message: '{{client_ref_id}} was not paid ({{txn_id}})' } },
        },
        {
          name: 'unknown',
          match: { route: 'status' },
          effect: { respond: { status: 500, body: { error: { about: '{{client_ref_id}}{{amount}}' } } } },
        },
        {
          name: 'traced',
          match: { route: 'initiate' },
          effect: { respond: { status: 201, headers: { location: '/orders/{{txn_id}}' } }, commit: true },
        },
      ],
    },
  });
  const page = await world.pay({ amount: 10.5, beneficiary_name: '<b>Asha</b>', client_ref_id: 'né 1' });
  const [payout] = await world.world.transactions();
  expect(page.headers.get('x-order')).toBe(`n%C3%A9 1 ${payout!.txn_id}`);
  expect(page.text).toBe(
    '<p>&lt;b&gt;Asha&lt;/b&gt; 10.5 PENDING at 2026-01-15T10:30:00.000Z, attempt 1, ' +
      `${page.headers.get('x-sandbox-request-id')}</p>`,
  );
  const refused = await world.pay({ client_ref_id: 'order-2', amount: 1000 });
  expect(refused).toMatchObject({ status: 422, body: { message: 'order-2 was not paid ()' } });
  const unknown = await world.status({ client_ref_id: 'order-"3"' });
  expect(unknown.body).toEqual({ error: { about: 'order-"3"' } });
  const traced = await world.pay({ client_ref_id: 'order-4', amount: 100 });
  expect(traced.headers.get('location')).toBe(`/orders/${traced.body.data.txn_id}`);
});
