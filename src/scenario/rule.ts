import type { PlannedStep, RateLimit } from '../contract/snapshot.ts';
import { durationText } from '../contract/times.ts';
import type { During, Match, RouteName } from '../contract/match.ts';
import type { Calendar, EffectDocument, NotFound } from '../contract/scenario-document.ts';
import { oneMore } from '../payout/payout.ts';
import { countInWindow, type RateWindows } from './rate-limit.ts';
import type { Draw } from '../payout/settlement.ts';

export type Delay = NonNullable<EffectDocument['delay']>;
export type Respond = NonNullable<EffectDocument['respond']>;

export type Fault = NonNullable<EffectDocument['fault']>;
/** The point at which a request waits to be released, and the longest wait in ms of wall time. */
export type Hold = NonNullable<EffectDocument['hold']>;

/** When the ledger sees an initiate later: after a world time in ms, or so many requests. */
export type LateWhen = Exclude<EffectDocument['commit'], boolean | undefined>;

export interface Effect {
  readonly delay: Delay | null;
  readonly respond: Respond | null;
  readonly fault: Fault | null;
  readonly hold: Hold | null;
  /** Whether the payout happens at once, whatever the client sees. */
  readonly commit: boolean;
  /** When the ledger sees the initiate, if that is later than it arrives. */
  readonly late: LateWhen | null;
  readonly timeline: readonly PlannedStep[] | null;
  readonly notFound: NotFound | null;
  readonly staleMs: number | null;
}

/** What the match of a rule can test in a request. */
export interface RequestFacts {
  readonly route: RouteName;
  /** The fields of the body or the query, by their names in the payout API. */
  readonly fields: Readonly<Record<string, string | number | undefined>>;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Which attempt of this reference on this route this is, counted from 1; 0 when attempts are not counted. */
  readonly attempt: number;
  /** Which new reference of its world it names, counted from 1; 0 when that is not known. */
  readonly payout: () => number;
  /** World time, ms since the epoch. */
  readonly nowMs: number;
  /** World time since the world began, in ms. */
  readonly ageMs: number;
  readonly calendar: Calendar;
}

export interface Rule {
  /** `scenario/rule`, as in the header X-Sandbox-Rule. */
  readonly id: string;
  readonly document: unknown;
  readonly countsAttempts: boolean;
  readonly match: Match;
  readonly during: During | undefined;
  /** Whether `match` and `during` hold. */
  readonly matches: (facts: RequestFacts) => boolean;
  readonly skip: number;
  readonly times: number | null;
  readonly probability: number | null;
  /** The requests that it lets pass. */
  readonly limit: RateLimit | null;
  readonly effect: Effect;
}

/** How many requests of one world a rule matched, and how many of them it changed: those whose response names it. */
export interface RuleUse {
  matched: number;
  taken: number;
}

export interface Counts {
  readonly uses: Map<string, RuleUse>;
  readonly windows: RateWindows;
}

/**
 * Counts a request that a rule matches. Whether the rule changes it, so that it is counted as taken, is known only afterwards.
 *
 * @returns why the rule leaves it to the rules after it; null when it applies
 */
export function skipReason(
  { id, skip, times, probability, limit }: Rule,
  { nowMs }: RequestFacts,
  { uses, windows }: Counts,
  draw: Draw,
): string | null {
  const use = uses.get(id) ?? { matched: 0, taken: 0 };
  uses.set(id, use);
  use.matched = oneMore(use.matched);
  if (use.matched <= skip) return `skip ${skip} is not used up: this is match ${use.matched}`;
  if (times !== null && use.taken >= times) return `times ${times} is used up`;
  if (probability !== null) {
    const drawn = draw(`rule ${id}`);
    if (drawn >= probability) return `probability ${probability} is not drawn (${drawn.toFixed(3)})`;
  }
  if (limit !== null && countInWindow(windows, id, limit, nowMs) === null) {
    return `the limit of ${limit.max} per ${durationText(limit.windowMs)} lets it pass`;
  }
  return null;
}

/** Whether a match names other accounts in full, as those of the magic beneficiaries do: nothing else of it is looked at then. */
export const namesOthers = ({ beneficiary_account: named }: Match, account: unknown): boolean =>
  typeof named === 'string'
    ? named !== account
    : Array.isArray(named) && !named.some((one) => one === account);

/** Finds the first rule that matches and applies, and counts the request for each rule that it matches on the way. */
export const firstApplicableRule = (
  rules: readonly Rule[],
  facts: RequestFacts,
  counts: Counts,
  draw: Draw,
): Rule | null =>
  rules.find(
    (rule) =>
      !namesOthers(rule.match, facts.fields['beneficiary_account']) &&
      rule.matches(facts) &&
      skipReason(rule, facts, counts, draw) === null,
  ) ?? null;

export const delayMs = (delay: Delay, draw: Draw): number =>
  typeof delay === 'number' ? delay : Math.round(delay.min + draw('delay') * (delay.max - delay.min));

/** The faults that let the client see the status and some of the body. */
const SHOWS_ANSWER: ReadonlySet<string> = new Set(['truncated-body', 'malformed-json', 'slow-body']);

/** Whether the client sees a status, and anything of the body. @param fault its kind, if there is one */
export const showsResponse = (fault: string | null | undefined): boolean =>
  fault === null || fault === undefined || SHOWS_ANSWER.has(fault);

/** Whether a response replaces the normal one with a body of its own. */
export const replacesBody = (respond: Respond | null): boolean =>
  respond !== null && (respond.body !== undefined || respond.status >= 300);
