import type { RuleAnswer } from '../../contract/control-answers.ts';

/** A rule that makes every payout look failed to its client. */
interface OrderedFailure {
  readonly rule: RuleAnswer;
  /** What the client sees, in words: `answered 500` */
  readonly seen: string;
  readonly isPaid: boolean;
  /** How many more payouts it applies to; null for all. */
  readonly left: number | null;
}

/** The parts of a rule document that decide whether it fails every payout. */
interface RuleText {
  readonly match?: Readonly<Record<string, unknown>>;
  readonly effect?: {
    readonly commit?: boolean;
    readonly respond?: number | { readonly status?: number };
    readonly fault?: string | { readonly kind: string };
  };
  readonly times?: number;
}

const FIRST_REFUSAL = 400;
/** A rule with other fields than these does not apply to every payout. */
const FIELDS = new Set(['name', 'description', 'match', 'effect', 'times']);
const EFFECTS = new Set(['commit', 'respond', 'fault', 'delay', 'timeline']);

function seenBy({ respond, fault }: NonNullable<RuleText['effect']>): string | null {
  const kind = typeof fault === 'object' ? fault.kind : fault;
  if (kind === 'hang') return 'gets no answer';
  if (kind !== undefined && kind !== 'slow-body') return `ends in ${kind}`;
  const status = typeof respond === 'object' ? respond.status : respond;
  return status !== undefined && status >= FIRST_REFUSAL ? `is answered ${status}` : null;
}

function failureOf(rule: RuleAnswer): OrderedFailure | null {
  const text = rule.rule as RuleText;
  const { match = {}, effect = {}, times } = text;
  const isEvery =
    match['route'] === 'initiate' &&
    Object.keys(match).length === 1 &&
    Object.keys(text).every((name) => FIELDS.has(name)) &&
    Object.keys(effect).every((name) => EFFECTS.has(name));
  const seen = seenBy(effect);
  const left = times === undefined ? null : times - rule.taken;
  if (!isEvery || seen === null || left === 0) return null;
  return { rule, seen, isPaid: effect.commit === true, left };
}

/** The failure that is ordered for every payout; null if there is none. @param rules in the order in which they are tried */
export function orderedFailure(rules: readonly RuleAnswer[]): OrderedFailure | null {
  for (const rule of rules) {
    const failure = failureOf(rule);
    if (failure !== null) return failure;
  }
  return null;
}

/** `Every payout is answered 500, although it is made`, `The next 2 payouts …` */
export function failureText({ seen, isPaid, left }: OrderedFailure): string {
  const which =
    left === null ? 'Every payout' : left === 1 ? 'The next payout' : `Each of the next ${left} payouts`;
  return `${which} ${seen}${isPaid ? ', although it is made' : ', and is not made'}`;
}
