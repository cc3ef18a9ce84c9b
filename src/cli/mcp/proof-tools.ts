import { z } from 'zod';
import { queryText } from '../../client/control-client.ts';
import { RefereeSettings, type RefereeSettingsInput } from '../../contract/conduct.ts';
import type { RequestsAnswer } from '../../contract/control-answers.ts';
import { RouteName } from '../../contract/match.ts';
import { atMost, ofWorld, tool, ToolError } from './tool.ts';

/** Tools that show what a client did. */

export const proofTools = [
  tool({
    name: 'journal',
    description:
      'Shows what the client sent and what it got, a line for each request: its number, world time, request → answer, and why (rule, attempt, whether a payout was made). Filters narrow it down.',
    effect: 'reads',
    input: z.strictObject({
      ...ofWorld,
      route: RouteName.optional(),
      status: z.int().optional().describe('Only requests that were answered with this HTTP status'),
      client_ref_id: z.string().min(1).optional().describe('Only requests with this reference'),
      since: z.int().min(0).optional().describe('Only requests after the one with this number'),
      limit: atMost(200, 30),
    }),
    async run({ key, ...query }, session) {
      const path = `/requests${queryText({ ...query, format: 'text' })}`;
      return (await session.control(key).open('GET', path)).text();
    },
  }),
  tool({
    name: 'request',
    description: 'Shows one request of the journal in full: headers, body, answer, and what decided it.',
    effect: 'reads',
    input: z.strictObject({ ...ofWorld, number: z.int().min(1).describe('Its number in the journal') }),
    async run({ key, number }, session) {
      const query = { since: number - 1, order: 'oldest', limit: 1 };
      const { requests } = await session.control(key).get<RequestsAnswer>('/requests', query);
      if (requests[0]?.id === number) return requests[0];
      throw new ToolError(`the journal of this world has no request ${number}`);
    },
  }),
  tool({
    name: 'verdict',
    description:
      'Judges how the client of a world behaved, from its requests and the ledger: paid twice, gave up on an unknown outcome, retried too fast, and more. Each finding says what to do instead. With intent or expect, what happened before the last reset is left out.',
    effect: 'changes',
    input: z.strictObject({
      ...ofWorld,
      intent: RefereeSettings.shape.intent.describe(
        'What tells two intended payouts apart: a field such as beneficiary_account, or {"client_ref_id":"^order-(\\\\d+)"} with one group. Without it, a payout that was sent again under a new reference cannot be recognised',
      ),
      expect: RefereeSettings.shape.expect.describe(
        'Every payout that should end up paid: [{"account":"000123456789","amount":1000}]',
      ),
    }),
    async run({ key, ...given }, session) {
      const settings = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      const isTold = Object.keys(settings).length > 0;
      if (isTold) await session.world(key).referee(settings as RefereeSettingsInput);
      return (await session.control(key).open('GET', '/referee?format=text')).text();
    },
  }),
];
