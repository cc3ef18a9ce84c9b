import type { JournalEntry } from '../../contract/control-answers.ts';
import type { Exchange } from './exchange.ts';
import { readBody, withoutKeys } from './exchange-facts.ts';
import { toInr } from '../../payout/money.ts';
import { committed } from './verification.ts';

const iso = (atMs: number): string => new Date(atMs).toISOString();
const inr = (paise: number | undefined): number | null => (paise === undefined ? null : toInr(paise));

/** An exchange in the words of the control API. */
export const journalEntry = (exchange: Exchange): JournalEntry => ({
  id: exchange.nth,
  request_id: exchange.requestId,
  at: iso(exchange.atMs),
  wall_at: iso(exchange.wallMs),
  outcome: exchange.outcome,
  route: exchange.route ?? null,
  request: {
    method: exchange.method,
    path: exchange.url,
    headers: withoutKeys(exchange.headers),
    body: readBody(exchange.body),
  },
  answer: exchange.answer === undefined ? null : { ...exchange.answer, body: readBody(exchange.answer.body) },
  duration_ms: exchange.durationMs ?? null,
  code: exchange.code ?? null,
  client_ref_id: exchange.clientRefId ?? null,
  txn_id: exchange.txnId ?? null,
  attempt: exchange.attempt || null,
  rule: exchange.rule ?? null,
  limit: exchange.limit ?? null,
  fault: exchange.fault ?? null,
  delay_ms: exchange.delayMs ?? null,
  committed: committed(exchange),
  replayed: exchange.replayed === true,
  warnings: [...(exchange.warnings ?? [])],
  balance_before: inr(exchange.balanceBeforePaise),
  balance_after: inr(exchange.balancePaise),
});
