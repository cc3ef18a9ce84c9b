import type { During, Match, RouteName } from '../contract/match.ts';
import type { Effect as EffectDocument, NotFound } from '../contract/scenario-document.ts';
import { oneMore, type RateLimit } from '../contract/snapshot-lines.ts';
import type { Draw, PlannedStep } from '../payout/settlement.ts';
import { countInWindow, type RateWindows } from './rate-window.ts';

/** The delay of an answer, in ms of wall time. */
export type Delay = NonNullable<EffectDocument['delay']>;
export type Respond = NonNullable<EffectDocument['respond']>;

/** What happens to the connection. */
export type Fault =
  | { readonly kind: 'connection-reset' | 'empty-response' | 'truncated-body' | 'malformed-json' | 'garbage' }
  /** Until the client disconnects, or for this long in wall time. */
  | { readonly kind: 'hang'; readonly for: number | null }
  | { readonly kind: 'slow-body'; readonly bytes_per_second: number };

/** The point at which a request waits to be released, and the longest wait in ms of wall time. */
export interface Hold {
  readonly at: 'arrived' | 'committed';
  readonly forMs: number;
}

/** What a rule does. */
export interface Effect {
  readonly delay: Delay | null;
  readonly respond: Respond | null;
  readonly fault: Fault | null;
  readonly hold: Hold | null;
  /** Whether the payout happens, whatever the client sees. */
  readonly commit: boolean;
  readonly timeline: readonly PlannedStep[] | null;
  readonly notFound: NotFound | null;
  readonly staleMs: number | null;
}

/** What the match of a rule can test in a request. */
export interface RequestFacts {
  readonly route: RouteName;
  /** The fields of the body or the query, by their names in the interface. */
  readonly fields: Readonly<Record<string, string | number | undefined>>;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Which attempt of this reference on this route this is, counted from 1; 0 when attempts are not counted. */
  readonly attempt: number;
  /** Which new reference of its world it names, counted from 1; 0 when that is not known. */
  readonly payout: number;
  /** World time, ms since the epoch. */
  readonly nowMs: number;
  /** World time since the world began, in ms. */
  readonly ageMs: number;
}

export interface Rule {
  /** `scenario/rule`, as in the header X-Sandbox-Rule. */
  readonly id: string;
  /** The rule as written. */
  readonly document: unknown;
  /** Whether the rule depends on the number of the attempt. */
  readonly countsAttempts: boolean;
  /** The size of its regular expressions (pattern.ts). */
  readonly patternSize: number;
  /** About how much memory it takes. */
  readonly bytes: number;
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

/** Upper bounds for written and compiled values, measured on documents of empty objects and of the shortest patterns. */
const BYTES_OF_VALUE = 240;
const BYTES_OF_CHARACTER = 2;
const BYTES_OF_PATTERN_SIZE = 250;

/** About how many bytes of memory a scenario or a rule takes. @param patternSize of its regular expressions (pattern.ts) */
export function documentBytes(document: unknown, patternSize: number): number {
  const own = BYTES_OF_VALUE + BYTES_OF_PATTERN_SIZE * patternSize;
  if (typeof document === 'string') return own + BYTES_OF_CHARACTER * document.length;
  if (typeof document !== 'object' || document === null) return own;
  let bytes = own;
  if (Array.isArray(document))
    for (const item of document as readonly unknown[]) bytes += documentBytes(item, 0);
  else {
    for (const key of Object.keys(document)) {
      bytes += BYTES_OF_CHARACTER * key.length + documentBytes((document as Record<string, unknown>)[key], 0);
    }
  }
  return bytes;
}

/** How many requests of one world a rule matched, and how many of them it was applied to. */
export interface RuleUse {
  matched: number;
  taken: number;
}

/** What a world has counted for its rules. */
export interface Counts {
  readonly uses: Map<string, RuleUse>;
  readonly windows: RateWindows;
}

/** Why a rule that matches was not applied to a request. */
export type PassedOver =
  | { readonly by: 'skip'; readonly matched: number }
  | { readonly by: 'times' | 'limit' }
  | { readonly by: 'probability'; readonly drawn: number };

/** Counts a request that a rule matches. @returns why the rule does not apply to it; null when it does */
export function passOver(
  rule: Rule,
  { nowMs }: RequestFacts,
  { uses, windows }: Counts,
  draw: Draw,
): PassedOver | null {
  const { id, skip, times, probability, limit } = rule;
  const use = uses.get(id) ?? { matched: 0, taken: 0 };
  uses.set(id, use);
  use.matched = oneMore(use.matched);
  if (use.matched <= skip) return { by: 'skip', matched: use.matched };
  if (times !== null && use.taken >= times) return { by: 'times' };
  if (probability !== null) {
    const drawn = draw(`rule ${id}`);
    if (drawn >= probability) return { by: 'probability', drawn };
  }
  if (limit !== null && countInWindow(windows, id, limit, nowMs) === null) return { by: 'limit' };
  use.taken = oneMore(use.taken);
  return null;
}

/**
 * Finds the first rule that matches and applies, and counts it. A rule that matches does not apply to its first
 * `skip` requests, to more than `times` requests, when its `probability` is not drawn, or to those that its `limit` lets
 * pass: the next rules are then tried.
 */
export const takeRule = (
  rules: readonly Rule[],
  facts: RequestFacts,
  counts: Counts,
  draw: Draw,
): Rule | null =>
  rules.find((rule) => rule.matches(facts) && passOver(rule, facts, counts, draw) === null) ?? null;

/** A standard normal deviate from two uniform draws (Box and Muller, 1958). */
const normal = (one: number, other: number): number =>
  Math.sqrt(-2 * Math.log(1 - one)) * Math.cos(2 * Math.PI * other);

/** Draws a delay, in whole ms of wall time. */
export function delayMs(delay: Delay, draw: Draw): number {
  if (typeof delay === 'number') return delay;
  if ('min' in delay) return Math.round(delay.min + draw('delay') * (delay.max - delay.min));
  return Math.round(delay.median * Math.exp(delay.sigma * normal(draw('delay'), draw('delay again'))));
}

/** The faults that let the client see the status and some of the body. */
const SHOWS_ANSWER: ReadonlySet<string> = new Set(['truncated-body', 'malformed-json', 'slow-body']);

/** Whether the client sees a status, and anything of the body. @param fault its kind, if there is one */
export const showsAnswer = (fault: string | null | undefined): boolean =>
  fault === null || fault === undefined || SHOWS_ANSWER.has(fault);

/** Whether an answer replaces the normal one with a body of its own. */
export const replacesBody = (respond: Respond | null): boolean =>
  respond !== null && (respond.body !== undefined || respond.status >= 300);
