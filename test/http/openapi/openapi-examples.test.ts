import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../../src/index.ts';
import type { Example } from '../../../src/http/openapi/document.ts';
import { resealed } from '../../support/world/snapshot-lines.ts';
import { callsOf, openapiAt, type Json } from '../../support/http/openapi.ts';
import { clientOf, PAYOUT, type Client } from '../../support/sandbox.ts';

const ADMIN_TOKEN = 'the-token-of-the-admin';

type Answers = Readonly<Record<string, Json>>;
type Ask = Omit<Example, 'answer' | 'bodies'> & { readonly bodies?: Readonly<Record<string, unknown>> };
/** A call, built from the earlier answers, and the part of its response that the example shows. */
type Turn = readonly [
  operationId: string,
  ask?: ((answers: Answers) => Ask) | undefined,
  shown?: (answer: Json) => Json,
];

const firstRule = (answer: Json): Json => ({ ...answer, rules: answer.rules.slice(0, 1) });
/** A snapshot with a fixed wall time, which differs from run to run. */
const steadySnapshot = (text: string): string =>
  resealed(text.replace(/"wallMs":\d+/, '"wallMs":1768473000000'));
const txnId = (answers: Answers): string => answers['initiatePayout'].data.txn_id;

/** Calls every operation once, on a frozen clock. */
const STORY: readonly Turn[] = [
  ['getHealth'],
  ['getLiveness'],
  ['reloadScenarios'],
  ['listScenarios', undefined, (answer) => ({ ...answer, scenarios: answer.scenarios.slice(0, 2) })],
  [
    'chooseScenario',
    () => ({
      bodies: {
        'by-name': { use: 'happy-fast' },
        whole: { description: 'NEFT fails late', settlement: { NEFT: [{ to: 'FAILED', after: '40m' }] } },
      },
    }),
    firstRule,
  ],
  [
    'checkScenario',
    () => ({
      bodies: {
        text: { text: 'rules:\n  - match: { route: payout }\n    effect: { respond: 500 }\n' },
        document: { document: { seed: 7, rate_limit: '20/1s' } },
      },
    }),
  ],
  [
    'putRule',
    () => ({
      bodies: {
        'lost-response': {
          name: 'lost-response',
          match: { route: 'initiate', client_ref_id: 'order-2' },
          times: 1,
          effect: { commit: true, respond: { status: 500 } },
        },
        'slow-reads': { match: { route: 'status' }, effect: { delay: '2s' } },
      },
    }),
  ],
  ['listRules', undefined, firstRule],
  ['getScenario', undefined, firstRule],
  ['setClockSpeed', () => ({ bodies: { frozen: { speed: 0 } } })],
  ['freezeClock'],
  ['getClock'],
  [
    'explainRequest',
    () => ({
      bodies: {
        initiate: { route: 'initiate', body: PAYOUT, attempt: 1 },
        status: { route: 'status', query: { client_ref_id: 'order-1' } },
      },
    }),
    ({ rules, outcomes, ...answer }) => ({
      ...answer,
      rules: rules.slice(0, 1),
      outcomes: outcomes.slice(0, 1),
    }),
  ],
  [
    'initiatePayout',
    () => ({
      bodies: {
        'bank-account': { ...PAYOUT, remarks: 'Invoice 42' },
        'upi-id': {
          ...PAYOUT,
          client_ref_id: 'order-3',
          beneficiary_account: 'asha@upi',
          transfer_mode: 'UPI',
        },
        'insufficient-balance': {
          ...PAYOUT,
          client_ref_id: 'order-4',
          beneficiary_account: '9999000402',
        },
      },
    }),
  ],
  [
    'advanceClock',
    () => ({
      bodies: {
        'so-far': { by: '2h' },
        'up-to': { to: '2026-12-01T00:00:00Z' },
        'until-idle': { until: 'idle' },
      },
    }),
  ],
  ['getPayoutStatus', () => ({ query: { client_ref_id: 'order-1' } })],
  ['fetchBalance'],
  ['getTransaction', (answers) => ({ path: { txn_id: txnId(answers) } })],
  ['listTransactions', () => ({ query: { status: 'SUCCESS', order: 'newest', limit: 100 } })],
  ['listEntries', () => ({ query: { order: 'newest', limit: 100 } })],
  ['listRequests', () => ({ query: { route: 'initiate', order: 'newest', limit: 100 } })],
  [
    'verifyRequests',
    () => ({
      bodies: {
        count: { match: { route: 'initiate', client_ref_id: 'order-1' }, count: { exactly: 1 } },
        sequence: { sequence: [{ route: 'initiate' }, { route: 'status' }] },
      },
    }),
  ],
  [
    'instructReferee',
    () => ({
      bodies: {
        field: { name: 'salaries', intent: 'beneficiary_account' },
        pattern: {
          intent: { client_ref_id: '^order-(\\d+)' },
          off: { 'never-asked': 'a nightly job asks' },
          limits: { sends: 5 },
        },
        table: { expect: [{ account: '000123456789', amount: 1500.5, times: 1 }] },
      },
    }),
  ],
  ['judgeClient', () => ({ query: { format: 'json' } })],
  [
    'forceTransition',
    (answers) => ({ path: { txn_id: txnId(answers) }, bodies: { reversed: { to: 'REVERSED' } } }),
  ],
  ['creditWallet', () => ({ bodies: { credit: { amount: 500 } } })],
  ['debitWallet', () => ({ bodies: { debit: { amount: 500 } } })],
  ['getWallet'],
  ['getWorld'],
  ['removeRule', () => ({ path: { name: 'lost-response' } }), firstRule],
  ['removeRules', undefined, firstRule],
  ['clearRequests'],
  ['resetWorld'],
  ['undo', () => ({ bodies: { forced: { force: true } } })],
  ['resetWorld'],
  ['getState', undefined, steadySnapshot],
  ['putState', (answers) => ({ bodies: { snapshot: steadySnapshot(answers['getState']) } })],
  ['listHeld', () => ({ query: { count: 1, within: '10s' } })],
  ['releaseHeld', () => ({ path: { id: '1' }, bodies: { lost: { fault: 'connection-reset' } } })],
  ['listWorlds'],
  [
    'instructRefereeForAll',
    () => ({ bodies: { reference: { intent: { client_ref_id: '^(order-\\d+)' } } } }),
  ],
  ['judgeClients', () => ({ query: { format: 'json' } })],
  ['dropWorld', (answers) => ({ path: { id: answers['getWorld'].id } })],
  ['resumeClock', undefined, (answer) => ({ ...answer, now: '2026-01-15T10:30:00.000Z' })],
];

/** Operations without an example: their responses are not JSON, do not end, or are the document itself. */
const WITHOUT_EXAMPLE = ['getMetrics', 'getOpenapi', 'readEvents'];

/** Fixed values for fields that differ from run to run. */
const SHOWN: Readonly<Record<string, unknown>> = {
  version: '1.0.0-dev',
  request_id: 'req-1',
  duration_ms: 1.5,
  wall_at: '2026-01-15T10:30:00.000Z',
  until: '2026-01-15T10:30:30.000Z',
  used_at: '2026-01-15T10:30:00.000Z',
  headers: { 'content-type': 'application/json' },
};

/** Sends a request that a rule holds, and waits until it is held. It ends with its release, or with the sandbox. */
async function holdOne({ world, pay }: Client): Promise<void> {
  const effect = { hold: 'arrived' } as const;
  await world.rule({ name: 'under-way', match: { route: 'initiate' }, times: 1, effect });
  void pay({ client_ref_id: 'order-5' }).catch(() => undefined);
  await expect.poll(() => world.held()).toHaveLength(1);
}

const steady = (answer: Json): Json =>
  JSON.parse(JSON.stringify(answer), (key, value: unknown) =>
    key in SHOWN && typeof value === typeof SHOWN[key] ? SHOWN[key] : value,
  );

test('every example of the OpenAPI document is a real answer of the sandbox', async () => {
  const sandbox = await startSandbox({ clock: '2026-01-15T10:30:00Z', adminToken: ADMIN_TOKEN });
  onTestFinished(() => sandbox.close());
  const client = clientOf(sandbox.world('sk_test_demo'));
  const calls = callsOf(JSON.parse(await openapiAt(sandbox.url)));
  const answers: Record<string, Json> = {};
  const examples: Record<string, Example> = {};
  for (const [operationId, ask, shown] of STORY) {
    if (operationId === 'listHeld') await holdOne(client);
    const { path, query, bodies = {} } = ask?.(answers) ?? {};
    const {
      method,
      path: place,
      operation,
    } = calls.find((call) => call.operation.operationId === operationId)!;
    const url = place.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(path![name]));
    const [body] = Object.values(bodies);
    const key = 'admin' in (operation.security[0] ?? {}) ? ADMIN_TOKEN : client.apiKey;
    const [type = ''] = Object.keys(operation.requestBody?.content ?? {});
    const asked = new URLSearchParams(query as Record<string, string>).toString();
    const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': type }) };
    const {
      status,
      body: json,
      text,
    } = await client.send(method, asked === '' ? url : `${url}?${asked}`, {
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const answer: Json = json ?? text;
    expect({ operationId, status }).toEqual({
      operationId,
      status: Number(Object.keys(operation.responses)[0]),
    });
    answers[operationId] = answer;
    const values = Object.entries(bodies).map(([name, value]) => [name, { value }] as const);
    examples[operationId] = {
      ...(path && { path }),
      ...(query && { query }),
      ...(values.length > 0 && { bodies: Object.fromEntries(values) }),
      answer: steady(shown?.(answer) ?? answer),
    };
  }
  const withoutExample = calls
    .map(({ operation }) => operation.operationId)
    .filter((id) => !(id in examples))
    .toSorted();
  expect(withoutExample).toEqual(WITHOUT_EXAMPLE);
  // After a change: npx vitest run test/http/openapi/openapi-examples.test.ts -u
  await expect(`${JSON.stringify(examples, null, 1)}\n`).toMatchFileSnapshot(
    '../../../fixtures/openapi-examples.json',
  );
});
