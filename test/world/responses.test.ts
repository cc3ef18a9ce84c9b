import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ScenarioInput } from '../../src/contract/control.ts';
import { iso } from '../../src/contract/times.ts';
import { TRANSFER_MODES } from '../../src/contract/service.ts';
import type { Decided } from '../../src/world/journal/kept-request.ts';
import type { RequestCommand } from '../../src/world/request/request-commands.ts';
import { responseOf, sentResponse } from '../../src/world/request/response.ts';
import {
  balance,
  Core,
  initiate,
  oneRule,
  save,
  START_MS,
  status,
  type RuleInput,
} from '../support/world/core.ts';
import { testRows } from '../support/test-rows.ts';

const STYLES = ['envelope', 'message', 'problem', 'empty'] as const;

/** What changes a response: rules that name everything that they can, an older state, a limit, and choices of a dialect. */
const TELLING = {
  rate_limit: '100/1h',
  dialect: {
    client_ref_id: { same_body: 'stored', changed_body: 'second_payout' },
    status: { completed_at_while_pending: 'absent' },
    answers: { timestamps: 'seconds' },
  },
  rules: [
    {
      name: 'telling',
      match: { attempt: 2 },
      effect: {
        commit: true,
        respond: {
          status: 200,
          headers: { 'x-all': '{{client_ref_id}} {{amount}} {{txn_id}} {{request_id}}' },
          body: { all: '{{attempt}} {{now}} {{utr}} {{status}} {{transfer_mode}} {{remarks}}' },
        },
      },
    },
    { name: 'stale', match: { route: 'status', attempt: [1, 4] }, effect: { stale: '2ms' } },
    { name: 'wordy', match: { attempt: 3 }, effect: { respond: { status: 418, message: 'No {{txn_id}}' } } },
  ],
} satisfies ScenarioInput;

/** An ordinary account, and the magic ones. */
const ACCOUNTS = [
  '000123456789',
  ...readFileSync(join(import.meta.dirname, '../../fixtures/magic.yaml'), 'utf8').match(/\b9999\d{6}\b/g)!,
];

/** Requests that meet as many rules as possible: each with its body or its query, as a client sends them. */
function* requests(): Generator<RequestCommand> {
  for (const [nth, account] of ACCOUNTS.entries()) {
    // a rule that names an account treats all modes alike
    for (const transfer_mode of nth === 0 ? TRANSFER_MODES : (['IMPS'] as const)) {
      for (const amount of [1, 1, 250_000.5, 1]) {
        const { body } = initiate({
          client_ref_id: `order "${nth}" ${transfer_mode} \u20b9`,
          beneficiary_account: account,
          transfer_mode,
          amount,
          remarks: 'rent',
        });
        const request = { body: JSON.stringify(body), warnings: ['no bank'] };
        yield { ...initiate(body, { request }) };
        const reference = encodeURIComponent(body.client_ref_id);
        const query = { client_ref_id: body.client_ref_id };
        yield status(query, { request: { url: `/payout/status?client_ref_id=${reference}` } });
      }
    }
  }
  yield status({}, { request: { url: '/payout/status' } });
  yield balance({ request: { url: '/client/fetchbalance' } });
}

testRows(STYLES.flatMap((style) => [{ dialect: {} }, TELLING].map((given) => [style, given] as const)))(
  'the journal shows the responses that were sent, of every rule and with every kind of error',
  (body, given) => {
    const document = { ...given, dialect: { ...given.dialect, errors: { body } } };
    const world = new Core(document, { isMagic: true, openingBalancePaise: 1e10 });
    world.keep = 10_000;
    let asked = 0;
    for (const command of requests()) {
      const applied = world.apply(command, asked);
      const request = (applied.kind === 'done' ? applied.result : null) as Decided;
      const sent = responseOf(request);
      if (request.hold === undefined) expect(sentResponse(request)).toEqual(sent);
      asked += 1;
    }
    const { list } = world.state.requests;
    expect(list).toHaveLength(asked);
    const stored = save(world.state).items.flatMap((item) => ('request' in item ? [item.request] : []));
    expect(stored.map(({ response }) => response)).toEqual(list.map(sentResponse));
  },
);

/** What is sent for a response of a rule, and the code that the journal has. The headers that every response has are left out. */
function sentBy(respond: object) {
  const effect = { respond } as RuleInput['effect'];
  const world = new Core(oneRule(effect));
  const { status, headers, body } = responseOf(world.pay('order-1'));
  const { 'x-sandbox-request-id': id, 'x-sandbox-rule': rule, ...own } = headers;
  expect([id, rule]).toEqual(['req-1', 'test/r']);
  return { status, headers: own, body, code: world.state.requests.list[0]!.code };
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

testRows<[status: number, code: string, message: string, headers?: object]>([
  [401, 'UNAUTHORIZED', 'Unauthorized', { 'www-authenticate': 'Bearer' }],
  [429, 'RATE_LIMITED', 'Rate limit exceeded', { 'retry-after': '1' }],
  [418, 'HTTP_418', "I'm a Teapot"],
  [499, 'HTTP_499', 'Error'],
])('an error that a rule makes has the words and the headers of its status', (status, code, message, own) => {
  expect(sentBy({ status })).toEqual({
    status,
    headers: { ...JSON_TYPE, ...own },
    body: JSON.stringify({ status: 'error', message, code }),
    code,
  });
});

/** The headers of what a browser may run. */
const risky = (type: string) => ({
  'content-type': type,
  'content-security-policy': 'sandbox',
  'x-content-type-options': 'nosniff',
});
const PROBLEM = { 'content-type': 'application/problem+json; charset=utf-8' };
const [SVG, GUESSED, SEVERAL] = ['image/svg+xml', '', 'text/plain; a=b, text/html'] as const;

testRows<
  [respond: { status: number; code?: string; body: unknown; headers?: object }, body: string, headers: object]
>([
  [{ status: 400, body: 'down', code: 'OURS' }, 'down', { 'content-type': 'text/plain; charset=utf-8' }],
  [{ status: 503, body: { down: true } }, '{"down":true}', JSON_TYPE],
  [{ status: 429, body: {}, headers: { 'Retry-After': '7' } }, '{}', { ...JSON_TYPE, 'retry-after': '7' }],
  [
    { status: 200, body: '<p>{{attempt}}</p>', headers: { 'Content-Type': 'text/html' } },
    '<p>1</p>',
    risky('text/html'),
  ],
  [{ status: 200, body: '', headers: { 'Content-Type': SVG } }, '', risky(SVG)],
  [{ status: 200, body: '', headers: { 'content-type': GUESSED } }, '', risky(GUESSED)],
  [{ status: 200, body: '', headers: { 'content-type': SEVERAL } }, '', risky(SEVERAL)],
  [{ status: 200, body: {}, headers: PROBLEM }, '{}', PROBLEM],
])(
  'a body that a rule makes has its type, the headers of the rule before those of the status, and a policy if a browser may run it',
  (respond, body, headers) => {
    expect(sentBy(respond)).toEqual({ status: respond.status, headers, body, code: respond.code });
  },
);

test('a response of a rule names the request and the payout that it made, in its body, its headers and its message', () => {
  const sent = (respond: RuleInput['effect']['respond'], commit: boolean) => {
    const world = new Core(oneRule({ commit, respond }));
    const { body } = initiate({ client_ref_id: 'né 1', beneficiary_name: '<b>' });
    const response = responseOf(world.submit(initiate(body, { request: { body: JSON.stringify(body) } })));
    return { world, ...response };
  };
  const body = '{{beneficiary_name}} {{amount}} {{status}} at {{now}}, attempt {{attempt}}, {{request_id}}';
  const headers = { 'content-type': 'text/html', 'x-order': '{{client_ref_id}} {{txn_id}}' };
  const page = sent({ status: 502, headers, body }, true);
  expect(page.headers['x-order']).toBe(`n%C3%A9 1 ${page.world.payout('né 1').txnId}`);
  expect(page.body).toBe(`&lt;b&gt; 1 PENDING at ${iso(START_MS)}, attempt 1, req-1`);
  const normal = sent({ status: 200, headers: { 'content-type': 'text/html' } }, true);
  expect(normal.headers).toMatchObject(risky('text/html'));
  const refusal = sent({ status: 422, message: '{{client_ref_id}} was not paid ({{txn_id}})' }, false);
  expect(JSON.parse(refusal.body)).toMatchObject({ message: 'né 1 was not paid ()' });
});

test('Retry-After of a request past the limit of a rule is the rest of the window in whole seconds', () => {
  const world = new Core(oneRule({ limit: { max: 1, per: '90s' } }));
  world.pay('a');
  const { status, headers, body } = responseOf(world.pay('b', {}, 500));
  expect({ status, 'retry-after': headers['retry-after'] }).toEqual({ status: 429, 'retry-after': '90' });
  expect(JSON.parse(body)).toMatchObject({
    code: 'RATE_LIMITED',
    message: 'Too many requests: at most 1 per 90s',
  });
});
