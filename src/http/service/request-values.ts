import type { FastifyReply } from 'fastify';
import type { Dialect } from '../../contract/dialect.ts';
import { toInr } from '../../payout/money.ts';
import type { TemplateValues } from '../../scenario/template.ts';
import type { Answer, SeenEffect } from '../../world/request/request-result.ts';

/** ISO 8601 in UTC, with milliseconds or whole seconds. */
export function timestamp(atMs: number, { answers }: Dialect): string {
  const text = new Date(atMs).toISOString();
  return answers.timestamps === 'seconds' ? text.replace(/\.\d+/, '') : text;
}

/** What an answer of a rule can say of its request, and of the payout that it made or found. */
export function requestValues(
  { request }: FastifyReply,
  answer: Answer,
  { nowMs }: SeenEffect,
): TemplateValues {
  const { body, query, id, dialect, result, routeOptions } = request;
  const fields = routeOptions.config.name === 'status' ? query : body;
  const payout = answer.kind === 'payout' ? answer.payout : undefined;
  const ofPayout = payout && {
    client_ref_id: payout.clientRefId,
    txn_id: payout.txnId,
    amount: toInr(payout.amountPaise),
    status: payout.state,
    utr: payout.utr,
  };
  return {
    ...(fields as TemplateValues | undefined),
    ...ofPayout,
    attempt: result!.attempt === 0 ? null : result!.attempt, // 0 where attempts are not counted
    now: timestamp(nowMs, dialect),
    request_id: id,
  };
}
