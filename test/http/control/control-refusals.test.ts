import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { CONTROL_REFUSALS } from '../../../src/contract/errors.ts';
import { ask } from '../../support/control.ts';
import { fetched, sandboxFor, type Client, type Seen } from '../../support/sandbox.ts';
import { errorsIn } from '../../support/markdown.ts';

type Code = keyof typeof CONTROL_REFUSALS;

const ADMIN_TOKEN = 'a-token-for-this-test';
const AS_ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** Takes a race between an advance and a reset: `control-clock.test.ts` has its story. */
type Unprovoked = 'WORLD_REPLACED';

/** Provokes each refusal of the control API. */
const PROVOKED: Record<Exclude<Code, Unprovoked>, (client: Client) => Promise<Seen>> = {
  HELD_NOT_FOUND: (client) => ask(client, 'POST', '/held/7/release'),
  UNDO_REFUSED: (client) => ask(client, 'POST', '/undo'),
  RULE_NOT_FOUND: (client) => ask(client, 'DELETE', '/rules/busy'),
  SCENARIO_NOT_FOUND: (client) => ask(client, 'PUT', '/scenario', { use: 'timeout-after-comit' }),
  WORLD_NOT_FOUND: ({ url }) =>
    fetched(`${url}/_sandbox/worlds/0123abcd`, { method: 'DELETE', headers: AS_ADMIN }),
  ILLEGAL_TRANSITION: async (client) => {
    const { txn_id } = (await client.pay()).body.data;
    const go = (to: string) => ask(client, 'POST', `/transactions/${txn_id}/transition`, { to });
    await go('FAILED');
    return go('SUCCESS');
  },
  TOO_FEW_HELD: (client) => ask(client, 'GET', '/held?count=2&within=1ms'),
  WALLET_FULL: (client) => ask(client, 'POST', '/wallet/credit', { amount: 99_999_999_999 }),
  STATE_REFUSED: (client) => ask(client, 'PUT', '/state', { balance: 1 }),
  TOO_MANY_READERS: async ({ world, send }) => {
    const leave = new AbortController();
    onTestFinished(() => leave.abort());
    await Promise.all(Array.from({ length: 32 }, () => world.events({ signal: leave.signal })));
    return send('GET', '/_sandbox/events');
  },
  TOO_MANY_RULES: async (client) => {
    const rule = { effect: { respond: { status: 503 } } };
    await Promise.all(Array.from({ length: 100 }, () => client.world.rule(rule)));
    return ask(client, 'POST', '/rules', rule);
  },
};

const LISTED = errorsIn(
  readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8'),
  'Errors of the control API',
);

test('docs/errors.md lists every error of the control API, with its status and message', () => {
  const listed = LISTED.map(({ code, status, message }) => [code, { status, message }]);
  expect(listed).toEqual(Object.entries(CONTROL_REFUSALS));
});
const EXAMPLES = new Map(LISTED.map(({ code, example }) => [code, example]));

test.each(Object.keys(PROVOKED) as (keyof typeof PROVOKED)[])(
  '%s has the status of the catalogue and the message of docs/errors.md',
  async (code) => {
    const sandbox = await sandboxFor({ clock: '2026-01-15T10:30:00Z', adminToken: ADMIN_TOKEN });
    const { status, body } = await PROVOKED[code](sandbox.client());
    const refusal = CONTROL_REFUSALS[code];
    expect([status, body.code]).toEqual([refusal.status, code]);
    expect(body.message).toBe(EXAMPLES.get(code) ?? refusal.message);
  },
);
