import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

type Reply = readonly [status: number, body: object | string];

/** How another service with the API of the sandbox behaves. It shares no code with the sandbox. */
export interface Ways {
  /** The body of an error. */
  readonly errorBody: (status: number, message: string) => string;
  readonly unknownStatus: number;
  readonly isStatusOpen: boolean;
  readonly same: 'replay' | 'first_answer' | 'second_payout' | number;
  readonly changed: 'replay' | 'second_payout' | number;
  readonly remembers402: boolean;
  readonly both: 'same' | 'client_ref_id' | 'txn_id' | number;
  readonly hasEmptyCompletedAt: boolean;
  readonly time: (at: Date) => string;
  readonly refusesFormats: boolean;
  readonly refusesUnknownFields: boolean;
  readonly takesUpiIds: boolean;
  /** Whether it looks at the balance before it looks at formats and fields. */
  readonly looksAtBalanceFirst: boolean;
  /** What it does with a payout above the balance. */
  readonly aboveBalance: 402 | 200 | 500;
  /** After how many reads a payout is SUCCESS. */
  readonly readsToSettle: number;
  /** What the client gets in place of the reply to a POST, counted from 1. The status 0 resets the connection. */
  readonly sent: (post: number, reply: Reply) => Reply;
}

/** One that refuses what is wrong before it looks at the balance. */
export const WAYS: Ways = {
  errorBody: (status, message) => JSON.stringify({ status: 'failed', message, http: status }),
  unknownStatus: 404,
  isStatusOpen: false,
  same: 'replay',
  changed: 409,
  remembers402: false,
  both: 'same',
  hasEmptyCompletedAt: true,
  time: (at) => at.toISOString(),
  refusesFormats: true,
  refusesUnknownFields: true,
  takesUpiIds: true,
  looksAtBalanceFirst: false,
  aboveBalance: 402,
  readsToSettle: 5,
  sent: (_post, reply) => reply,
};

interface Made {
  readonly txn_id: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly at: Date;
  reads: number;
}

const FIELDS = new Set([
  'client_ref_id',
  'beneficiary_name',
  'beneficiary_account',
  'beneficiary_ifsc',
  'amount',
  'transfer_mode',
]);
const KEY = 'live-key';
const OPENING = 1000;

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Serves it on a free port. `payouts` is its ledger, and `heard` what it was asked. */
export async function otherService(ways: Ways) {
  const payouts: Made[] = [];
  const refused = new Set<unknown>();
  const heard: { readonly method: string; readonly withKey: boolean }[] = [];
  const posts = (): number => heard.filter(({ method }) => method === 'POST').length;
  const balance = (): number => payouts.reduce((left, { body }) => left - Number(body['amount']), OPENING);
  const stateOf = ({ reads }: Made): string => (reads >= ways.readsToSettle ? 'SUCCESS' : 'PENDING');
  const fail = (status: number, message: string): Reply => [status, ways.errorBody(status, message)];
  const initiated = (made: Made, state: string): Reply => [
    200,
    {
      status: 'success',
      message: 'ok',
      data: {
        txn_id: made.txn_id,
        client_ref_id: made.body['client_ref_id'],
        status: state,
        amount: made.body['amount'],
        utr: null,
        created_at: ways.time(made.at),
      },
    },
  ];
  function wrongShape(body: Readonly<Record<string, unknown>>): string | null {
    const isUpiId =
      ways.takesUpiIds &&
      body['transfer_mode'] === 'UPI' &&
      String(body['beneficiary_account']).includes('@');
    if (ways.refusesUnknownFields && Object.keys(body).some((field) => !FIELDS.has(field)))
      return 'unknown field';
    if (!ways.refusesFormats) return null;
    if (!/^[A-Z]{4}0\w{6}$/.test(String(body['beneficiary_ifsc']))) return 'wrong IFSC';
    return /^\d+$/.test(String(body['beneficiary_account'])) || isUpiId ? null : 'wrong account';
  }
  function initiate(body: Readonly<Record<string, unknown>>): Reply {
    const reference = body['client_ref_id'];
    const wrong = wrongShape(body);
    const isUncovered = (ways.remembers402 && refused.has(reference)) || Number(body['amount']) > balance();
    if (wrong !== null && !(ways.looksAtBalanceFirst && isUncovered)) return fail(400, wrong);
    const earlier = payouts.findLast((made) => made.body['client_ref_id'] === reference);
    if (earlier !== undefined) {
      const isSame = earlier.body['amount'] === body['amount'];
      const way = isSame ? ways.same : ways.changed;
      if (typeof way === 'number') return fail(way, 'used before');
      if (way !== 'second_payout')
        return initiated(earlier, way === 'first_answer' ? 'PENDING' : stateOf(earlier));
    }
    if (isUncovered && ways.aboveBalance !== 200) {
      refused.add(reference);
      return fail(ways.aboveBalance, 'no money');
    }
    const made = { txn_id: `P${payouts.length + 1}`, body, at: new Date(), reads: 0 };
    payouts.push(made);
    return initiated(made, 'PENDING');
  }
  function status(query: URLSearchParams): Reply {
    const [reference, txnId] = [query.get('client_ref_id'), query.get('txn_id')];
    const isBoth = reference !== null && txnId !== null;
    if (isBoth && typeof ways.both === 'number') return fail(ways.both, 'one of both');
    const byReference = (made: Made): boolean => made.body['client_ref_id'] === reference;
    const byId = (made: Made): boolean => made.txn_id === txnId;
    const wanted = payouts.findLast((made) => {
      if (!isBoth) return byReference(made) || byId(made);
      return ways.both === 'same'
        ? byReference(made) && byId(made)
        : ways.both === 'txn_id'
          ? byId(made)
          : byReference(made);
    });
    if (wanted === undefined) return fail(ways.unknownStatus, 'unknown');
    wanted.reads += 1;
    const isDone = stateOf(wanted) !== 'PENDING';
    const completed = isDone
      ? { completed_at: ways.time(wanted.at) }
      : ways.hasEmptyCompletedAt
        ? { completed_at: null }
        : {};
    return [
      200,
      {
        status: 'success',
        data: {
          txn_id: wanted.txn_id,
          status: stateOf(wanted),
          created_at: ways.time(wanted.at),
          ...completed,
        },
      },
    ];
  }
  const server = createServer((request, response) => {
    void (async () => {
      const { pathname, searchParams } = new URL(request.url!, 'http://here');
      const withKey = request.headers.authorization === `Bearer ${KEY}`;
      heard.push({ method: request.method!, withKey });
      const isOpen =
        pathname === '/payout/status' && ways.isStatusOpen && request.headers.authorization === undefined;
      const [code, body] =
        !withKey && !isOpen
          ? fail(401, 'who are you')
          : pathname === '/client/fetchbalance'
            ? ([
                200,
                {
                  status: 'success',
                  data: { balance: balance(), currency: 'INR', last_updated: ways.time(new Date()) },
                },
              ] as const)
            : pathname === '/payout/status'
              ? status(searchParams)
              : ways.sent(posts(), initiate(await bodyOf(request)));
      if (code === 0) return void request.socket.destroy();
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    })();
  });
  server.keepAliveTimeout = 0; // after a pause of 5 s it would end a connection that its client is about to use
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, key: KEY, payouts, heard };
}
