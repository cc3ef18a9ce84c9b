import {
  RefereeSettings,
  type CheckId,
  type CheckReport,
  type RefereeSettingsInput,
  type WorldReport,
} from '../../src/contract/conduct.ts';
import { payoutResponse } from '../support/payout-response.ts';
import type {
  EntryResponse,
  JournalEntry,
  TransactionResponse,
} from '../../src/contract/control-responses.ts';
import type { Evidence } from '../../src/referee/case.ts';
import { judge } from '../../src/referee/judge.ts';

const START_MS = Date.parse('2026-01-15T10:30:00.000Z');
const iso = (ms: number): string => new Date(START_MS + ms).toISOString();

/** One request of a journal that a test writes down. Times are ms since its start. */
export interface Line {
  readonly route?: 'initiate' | 'status' | 'balance';
  readonly reference?: string;
  /** The fields of an initiate that differ from the usual ones. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** HTTP status; 0 for none. */
  readonly http?: number;
  readonly state?: string;
  readonly balance?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of the request. */
  readonly sent?: Readonly<Record<string, string>>;
  readonly atMs?: number;
  readonly tookMs?: number;
  readonly endedAfter?: number;
  readonly change?: Partial<JournalEntry>;
}

function responseOf({ http = 200, state, balance, headers = {} }: Line): JournalEntry['answer'] {
  if (http === 0) return null;
  const data = { ...(state !== undefined && { status: state }), ...(balance !== undefined && { balance }) };
  return { status: http, headers: { ...headers }, body: http === 200 ? { status: 'success', data } : null };
}

/** A journal: requests one after the other, a second apart, each answered in 10 ms, unless a line says otherwise. */
const journalOf = (lines: readonly Line[]): JournalEntry[] =>
  lines.map((line, index) => {
    const { route = 'initiate', reference = 'order-1', body = {}, http = 200, tookMs = 10, change } = line;
    const at = iso(line.atMs ?? index * 1000);
    const id = index + 1;
    const path = { initiate: '/payout/initiate', status: '/payout/status', balance: '/client/fetchbalance' };
    const fields = { client_ref_id: reference, beneficiary_account: '000123456789', amount: 100, ...body };
    const isMade = route === 'initiate' && http === 200;
    return {
      id,
      request_id: `req-${id}`,
      at,
      wall_at: at,
      outcome: http === 0 ? 'client_gone' : 'answered',
      route,
      request: {
        method: route === 'initiate' ? 'POST' : 'GET',
        path: path[route],
        headers: { ...line.sent },
        body: route === 'initiate' ? fields : null,
      },
      answer: responseOf(line),
      duration_ms: tookMs,
      ended_after: line.endedAfter ?? id,
      code: null,
      client_ref_id: route === 'balance' ? null : reference,
      txn_id: null,
      attempt: null,
      rule: null,
      limit: null,
      fault: null,
      delay_ms: null,
      committed: route === 'initiate' ? isMade : null,
      planned_by: null,
      replayed: false,
      warnings: [],
      cut: [],
      balance_before: null,
      balance_after: null,
      ...change,
    };
  });

/** A payout of the ledger. @param steps the states that it came to, with their times */
export const payoutOf = (
  reference: string,
  steps: readonly (readonly [TransactionResponse['status'], number])[],
  change: Partial<TransactionResponse> = {},
): TransactionResponse =>
  payoutResponse(`TXN-${reference}`, {
    client_ref_id: reference,
    status: steps.at(-1)?.[0] ?? 'PENDING',
    created_at: iso(0),
    timeline: steps.map(([to, atMs]) => ({
      to,
      at: iso(atMs),
      polls: null,
      utr: false,
      done: true,
      forced: false,
      after_request: null,
    })),
    ...change,
  });

export const creditAt = (atMs: number): EntryResponse => ({
  kind: 'credit',
  amount: 500,
  balance: 500,
  txn_id: null,
  at: iso(atMs),
});

export const evidenceOf = (
  lines: readonly Line[],
  ledger: Partial<NonNullable<Evidence['ledger']>> = {},
): Evidence => ({
  requests: journalOf(lines),
  evicted: 0,
  ledger: { payouts: [], entries: [], ...ledger },
  wall_now: null,
  clientEnded: true,
});

/** Says which references belong to one order. */
export const ORDERS = { intent: { client_ref_id: '^(order-\\d+)' } } as const;

/** A table that expects so many payouts of ₹100 to the usual account. */
export const expecting = (times: number) => ({ expect: [{ account: '000123456789', amount: 100, times }] });

/** A request that is under way. */
export const underWay = (change: Partial<JournalEntry> = {}): Line => ({
  http: 0,
  change: { outcome: 'pending', duration_ms: null, ended_after: null, ...change },
});

/** A payout that was made, although its client saw a 500. */
export const lost: Line = { http: 500, change: { committed: true } };

export const reportOn = (evidence: Evidence, settings: RefereeSettingsInput = {}): WorldReport =>
  judge('a world', evidence, RefereeSettings.parse(settings));

export const checkOf = (id: CheckId, evidence: Evidence, settings: RefereeSettingsInput = {}): CheckReport =>
  reportOn(evidence, settings).checks.find((check) => check.id === id)!;
