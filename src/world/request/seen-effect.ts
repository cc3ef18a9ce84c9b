import { replacesBody } from '../../scenario/rule.ts';
import type { Plan, TakenRule } from './request-plan.ts';
import type { Answer, SeenEffect } from '../journal/kept-request.ts';
import { isReplayed } from './response.ts';

/** What a client sees of the rule that was taken. */

const GARBAGE_BYTES = 51; // 64 with the bytes around them, which look like HTTP

/** Whether a rule changes anything: not a refusal that it leaves as it is, nor the future of a payout that was made before. */
export function isApplied({ effect }: TakenRule, answer: Answer): boolean {
  const { respond, fault, delay, timeline, notFound } = effect;
  if (replacesBody(respond) || fault !== null || delay !== null) return true;
  if (answer.kind === 'refused') return false;
  const plansOnly = respond === null && effect.commit && (timeline !== null || notFound !== null);
  return !(plansOnly && isReplayed(answer));
}

export const seenEffect = ({ id, effect: { respond, fault, hold } }: TakenRule, plan: Plan): SeenEffect => ({
  rule: id,
  respond,
  fault,
  delayMs: plan.delayMs,
  limitLeftMs: plan.limitLeftMs,
  nowMs: plan.facts.nowMs,
  garbage:
    fault?.kind === 'garbage' || hold !== null // its release may order this fault
      ? Array.from({ length: GARBAGE_BYTES }, (_, nth) => 128 + Math.floor(plan.draw(`garbage ${nth}`) * 128))
      : [],
});
