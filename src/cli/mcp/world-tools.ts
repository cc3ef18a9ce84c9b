import { z } from 'zod';
import type { TransactionAnswer, TransactionsAnswer, WorldAnswer } from '../../contract/control-answers.ts';
import { durationLike } from '../../contract/duration.ts';
import { State } from '../../contract/service.ts';
import { atMost, ofWorld, tool, ToolError } from './tool.ts';

/** Tools for worlds, their money and their payouts. */

const MOST_WORLDS = 50;
const MOST_PATIENCE_MS = 3_600_000;
const MOST_SNAPSHOTS = 10;

/** The headers that explain an answer. */
const TELLING_HEADERS = /^(?:x-sandbox-|retry-after$|idempotent-replayed$)/;

/** A payout in a list, without its beneficiary and its timeline. */
function shortPayout({ timeline, ...payout }: TransactionAnswer) {
  const { txn_id, client_ref_id, status, amount, transfer_mode, utr, reason } = payout;
  const next = timeline.find(({ done }) => !done) ?? null;
  return { client_ref_id, txn_id, status, amount, transfer_mode, utr, reason, next };
}

/** A world, with its payouts under the name that the tools use. */
const shortWorld = ({ transactions: payouts, ...world }: WorldAnswer) => ({ ...world, payouts });

const pay = tool({
  name: 'pay',
  description:
    'Sends one POST /payout/initiate, as a client would, and shows the answer. Fields that are left out are those of a valid IMPS payout of INR 1,000 with a new reference. Rules and faults apply, and it is in the journal.',
  effect: 'changes',
  input: z.strictObject({
    ...ofWorld,
    client_ref_id: z.string().optional().describe('The reference. The same one again is a retry'),
    amount: z.number().optional().describe('INR, at most 2 decimals'),
    transfer_mode: z.string().optional().describe('IMPS, NEFT, RTGS or UPI'),
    beneficiary_name: z.string().optional(),
    beneficiary_account: z.string().optional(),
    beneficiary_ifsc: z.string().optional(),
    remarks: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional().describe('Headers to send in addition'),
    patience: durationLike('500ms, 10s', { examples: ['10s'] })
      .refine((ms) => ms <= MOST_PATIENCE_MS, { error: 'must be at most 1h' })
      .prefault('10s')
      .describe('How long to wait for the answer'),
  }),
  async run({ key, headers = {}, patience, ...fields }, session, { signal }) {
    const payout = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    const late = AbortSignal.timeout(patience);
    try {
      const world = session.world(key);
      const answer = await world.pay(payout, { headers, signal: AbortSignal.any([signal, late]) });
      const telling = [...answer.headers].filter(([name]) => TELLING_HEADERS.test(name));
      return {
        http_status: answer.status,
        client_ref_id: answer.client_ref_id,
        headers: Object.fromEntries(telling),
        body: answer.body,
      };
    } catch (error) {
      if (late.aborted) return `No answer within ${patience} ms. See the journal for what happened to it.`;
      const { cause } = error as { readonly cause?: { readonly code?: string; readonly message: string } };
      if (cause === undefined) throw error;
      return `The connection broke: ${cause.code ?? cause.message}. See the journal for whether the payout was made.`;
    }
  },
});

export const worldTools = [
  tool({
    name: 'status',
    description:
      'Shows the address and the key for the client under test, and the world of that key: balance in INR, payouts in each state, clock, scenario. Call it first.',
    effect: 'reads',
    input: z.strictObject(ofWorld),
    async run({ key }, session) {
      const world = shortWorld(await session.world(key).summary());
      return { url: session.sandbox.url, key: key ?? session.key, ...world };
    },
  }),
  tool({
    name: 'worlds',
    description:
      'Lists the worlds of the sandbox, the latest used last. A world begins with the first use of its key.',
    effect: 'reads',
    input: z.strictObject({ limit: atMost(MOST_WORLDS, 20) }),
    async run({ limit }, { sandbox, isAdmin }) {
      if (!isAdmin) {
        throw new ToolError(
          'only the admin of that sandbox can list its worlds: start this server with --admin-token, or use `status` with a key',
        );
      }
      const worlds = await sandbox.worlds();
      return { count: worlds.length, worlds: worlds.slice(-limit) };
    },
  }),
  pay,
  tool({
    name: 'payouts',
    description:
      'Lists the payouts of a world with their state, why they are in it, and the next step that is scheduled. With client_ref_id it shows all details, with the timeline.',
    effect: 'reads',
    input: z.strictObject({
      ...ofWorld,
      status: State.optional().describe('Only payouts in this state'),
      client_ref_id: z.string().min(1).optional().describe('Only payouts with this reference'),
      limit: atMost(100, 20),
    }),
    async run({ key, ...query }, session) {
      const answer = await session.control(key).get<TransactionsAnswer>('/transactions', query);
      const { transactions, next } = answer;
      const payouts = transactions.toReversed();
      const shown = query.client_ref_id === undefined ? payouts.map(shortPayout) : payouts;
      return { payouts: shown, ...(next !== null && { note: 'there are more: raise limit' }) };
    },
  }),
  tool({
    name: 'fund',
    description: 'Puts money into the wallet of a world; a negative amount takes it out.',
    effect: 'changes',
    input: z.strictObject({ ...ofWorld, amount: z.number().describe('INR, at most 2 decimals') }),
    async run({ key, amount }, session) {
      const world = session.world(key);
      const { balance } = await (amount < 0 ? world.withdraw(-amount) : world.fund(amount));
      return { balance };
    },
  }),
  tool({
    name: 'force_payout',
    description:
      'Forces a payout into a state now: PENDING can become SUCCESS, FAILED or REVERSED, and SUCCESS can become REVERSED. What was scheduled for it is cancelled.',
    effect: 'changes',
    input: z.strictObject({
      ...ofWorld,
      client_ref_id: z.string().min(1),
      to: State.exclude(['PENDING']),
    }),
    async run({ key, client_ref_id, to }, session) {
      const world = session.world(key);
      const { txn_id } = await world.payout(client_ref_id);
      return shortPayout(await world.transition(txn_id, to));
    },
  }),
  tool({
    name: 'reset',
    description:
      'Starts a world again: a new wallet, no payouts, an empty journal, no rules on top, the scenario of the server, and its clock.',
    effect: 'loses',
    input: z.strictObject(ofWorld),
    run: async ({ key }, session) => shortWorld(await session.world(key).reset()),
  }),
  tool({
    name: 'save_snapshot',
    description:
      'Keeps the whole state of a world under a name, so that restore_snapshot returns to it any number of times. Snapshots end with this connection.',
    effect: 'changes',
    input: z.strictObject({ ...ofWorld, name: z.string().min(1).max(64) }),
    async run({ key, name }, session) {
      const { snapshots } = session;
      if (snapshots.size >= MOST_SNAPSHOTS && !snapshots.has(name)) {
        throw new ToolError(
          `at most ${MOST_SNAPSHOTS} snapshots are kept: save over one of ${[...snapshots.keys()].join(', ')}`,
        );
      }
      snapshots.set(name, await session.world(key).snapshot());
      return { saved: name };
    },
  }),
  tool({
    name: 'restore_snapshot',
    description:
      'Puts a world back into the state of a snapshot; with another key, into another world. The journal is not part of a snapshot.',
    effect: 'loses',
    input: z.strictObject({ ...ofWorld, name: z.string().min(1) }),
    async run({ key, name }, session) {
      const snapshot = session.snapshots.get(name);
      if (snapshot === undefined) {
        const names = [...session.snapshots.keys()];
        const known = names.length === 0 ? 'none was saved yet' : `there are ${names.join(', ')}`;
        throw new ToolError(`there is no snapshot ${name}: ${known}`);
      }
      return shortWorld(await session.world(key).restore(snapshot));
    },
  }),
];
