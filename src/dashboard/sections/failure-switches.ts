import type { RuleRequest } from '../../contract/control.ts';
import type { RuleAnswer } from '../../contract/control-answers.ts';

/** A failure that can be switched on for every payout. */
interface FailureSwitch {
  readonly label: string;
  readonly rule: RuleRequest & { readonly name: string };
}

const match = { route: 'initiate' } as const;

/** The common failures, one click away. */
export const FAILURE_SWITCHES: readonly FailureSwitch[] = [
  { label: '402', rule: { name: 'always-402', match, effect: { respond: { status: 402 } } } },
  { label: '429', rule: { name: 'always-429', match, effect: { respond: { status: 429 } } } },
  { label: '500', rule: { name: 'always-500', match, effect: { respond: { status: 500 } } } },
  {
    label: '500 after commit',
    rule: { name: '500-after-commit', match, effect: { commit: true, respond: { status: 500 } } },
  },
  {
    label: 'Hang after commit',
    rule: { name: 'hang-after-commit', match, effect: { commit: true, fault: 'hang' } },
  },
  {
    label: 'Reset after commit',
    rule: { name: 'reset-after-commit', match, effect: { commit: true, fault: 'connection-reset' } },
  },
  { label: 'Delay by 5 s', rule: { name: 'delay-5s', match, effect: { delay: '5s' } } },
  { label: 'Hold before commit', rule: { name: 'hold-arrived', match, effect: { hold: 'arrived' } } },
  { label: 'Hold after commit', rule: { name: 'hold-committed', match, effect: { hold: 'committed' } } },
];

/** The parts of a rule document that the page reads. */
interface RuleText {
  readonly match?: Readonly<Record<string, unknown>>;
  readonly effect?: Readonly<Record<string, unknown>>;
}

const textOf = ({ rule }: RuleAnswer): RuleText => rule as RuleText;

/** The account that a magic rule matches; null for every other rule. */
export function magicAccount(rule: RuleAnswer): string | null {
  const account = textOf(rule).match?.['beneficiary_account'];
  return rule.from === 'magic' && typeof account === 'string' ? account : null;
}

/** Whether a magic rule makes the payout, as headings of the menu. */
export const MAGIC_KINDS = [
  'Normal answer, then',
  'Paid, but the client sees',
  'Not paid, the client sees',
] as const;

export function magicKind(rule: RuleAnswer): (typeof MAGIC_KINDS)[number] {
  const { commit, respond, fault, delay } = textOf(rule).effect ?? {};
  if (respond === undefined && fault === undefined)
    return delay === undefined ? MAGIC_KINDS[0] : MAGIC_KINDS[1];
  return commit === true ? MAGIC_KINDS[1] : MAGIC_KINDS[2];
}

/** A magic rule as a rule on top for every payout: without the account that it matches. */
export function onTop(rule: RuleAnswer): RuleRequest {
  const { beneficiary_account: _account, ...rest } = textOf(rule).match ?? {};
  return { ...(rule.rule as RuleRequest), name: rule.name, match: rest };
}
