import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { CONTROL_REFUSALS } from '../../../src/contract/errors.ts';
import { sandboxFor, seen, type Client, type Seen } from '../../support/sandbox.ts';
import { errorExamples } from '../../support/markdown.ts';

const json = (body: unknown) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

type Code = keyof typeof CONTROL_REFUSALS;

/** Takes a race between an advance and a reset: `control-clock.test.ts` has its story. */
type Unprovoked = 'WORLD_REPLACED';

/** Provokes each refusal of the control API. */
const PROVOKED: Record<Exclude<Code, Unprovoked>, (client: Client) => Promise<Seen>> = {
  HELD_NOT_FOUND: ({ send }) => send('POST', '/_sandbox/held/7/release'),
  REQUEST_NOT_FOUND: ({ send }) => send('GET', '/_sandbox/state?before=7'),
  UNDO_REFUSED: ({ send }) => send('POST', '/_sandbox/undo'),
  RULE_NOT_FOUND: ({ send }) => send('DELETE', '/_sandbox/rules/busy'),
  SCENARIO_NOT_FOUND: ({ send }) => send('PUT', '/_sandbox/scenario', json({ use: 'timeout-after-comit' })),
  WORLD_NOT_FOUND: ({ url }) => asAdmin(`${url}/_sandbox/worlds/0123abcd`, 'DELETE'),
  ILLEGAL_TRANSITION: async ({ pay, send }) => {
    const { txn_id } = (await pay()).body.data;
    const go = (to: string) => send('POST', `/_sandbox/transactions/${txn_id}/transition`, json({ to }));
    await go('FAILED');
    return go('SUCCESS');
  },
  CLOCK_BACKWARDS: async ({ pay, clock, send }) => {
    await pay();
    await clock.advance('1h');
    return send('POST', '/_sandbox/clock/reset');
  },
  TOO_FEW_HELD: ({ send }) => send('GET', '/_sandbox/held?count=2&within=1ms'),
  WALLET_FULL: ({ send }) => send('POST', '/_sandbox/wallet/credit', json({ amount: 99_999_999_999 })),
  STATE_REFUSED: ({ send }) => send('PUT', '/_sandbox/state', json({ balance: 1 })),
  TOO_MANY_READERS: async ({ world, send }) => {
    const leave = new AbortController();
    onTestFinished(() => leave.abort());
    await Promise.all(Array.from({ length: 32 }, () => world.events({ signal: leave.signal })));
    return send('GET', '/_sandbox/events');
  },
  TOO_MANY_RULES: async ({ world, send }) => {
    const rule = { effect: { respond: { status: 503 } } };
    await Promise.all(Array.from({ length: 100 }, () => world.rule(rule)));
    return send('POST', '/_sandbox/rules', json(rule));
  },
};

const ADMIN_TOKEN = 'a-token-for-this-test';

const asAdmin = async (url: string, method: string): Promise<Seen> =>
  seen(await fetch(url, { method, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }));

const EXAMPLES = errorExamples(
  readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8'),
  'Errors of the control API',
);

test('docs/errors.md has a section for every error of the control API', () => {
  expect([...EXAMPLES.keys()]).toEqual(Object.keys(CONTROL_REFUSALS));
  expect(JSON.parse(EXAMPLES.get('WORLD_REPLACED')!)).toMatchObject({ code: 'WORLD_REPLACED' });
});

test.each(Object.keys(PROVOKED) as (keyof typeof PROVOKED)[])(
  '%s has the status of the catalogue and the text of docs/errors.md',
  async (code) => {
    const sandbox = await sandboxFor({ clock: '2026-01-15T10:30:00Z', adminToken: ADMIN_TOKEN });
    const { status, text } = await PROVOKED[code](sandbox.client());
    expect(status).toBe(CONTROL_REFUSALS[code].status);
    const shown = text.replace(/(?<=there are )[^"]*/, '…'); // the names of all scenarios
    expect(shown).toBe(EXAMPLES.get(code));
  },
);
