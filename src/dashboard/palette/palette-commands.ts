import { advance, CLOCK_EFFECTS, setSpeed, SPEEDS, toggleClock } from '../control-bar/clock-moves.ts';
import { FAILURES, ruleOf, TIMES, type Times } from '../control-bar/failure-kinds.ts';
import { MONEY_EFFECTS, moveMoney } from '../control-bar/money-moves.ts';
import { backToNormal, chooseScenario, orderRule } from '../control-bar/rule-orders.ts';
import { freshReference, pay } from '../control-bar/sending.ts';
import type { RouteName } from '../../contract/match.ts';
import { VIEWS, type ViewName } from '../shell/address.ts';
import { openPayout, openRequest, showRisk, showView } from '../shell/navigation.ts';
import { show } from '../shell/overlay.ts';
import { chooseKey, chooseTheme, THEMES } from '../shell/session.ts';
import { perform, undo } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { grouped, rupees } from '../../contract/words.ts';
import { istMoment, noAmountText, parseAmount } from '../ui/formats.ts';

/** Something that the palette can do. */
export interface Command {
  readonly title: string;
  /** What to type for it, or what it means. */
  readonly note: string;
  /** Absent while the words are not complete. */
  readonly act?: () => void;
  /** What Enter types then. */
  readonly typed?: string;
}

const PAY: Command = { title: 'Pay …', note: 'pay 5000 to 9999100500', typed: 'pay ' };
const ADVANCE: Command = {
  title: 'Advance …',
  note: 'advance 3d, advance 2026-12-01 09:00, advance idle',
  typed: 'advance ',
};

function payCommand(live: LiveWorld, words: string): Command | null {
  // without “to”, “10 000” could be ₹10 to the account 000
  const match = /^pay(?:\s+(.+?)(?:\s+to(?:\s+(\S+))?)?)?$/i.exec(words);
  if (match === null) return null;
  const [, text, account] = match;
  if (text === undefined) return PAY;
  const amount = parseAmount(text);
  if (amount === null) return { title: 'Pay …', note: noAmountText(text) };
  const send = async (): Promise<string> => {
    const reference = freshReference();
    const payout = {
      client_ref_id: reference,
      amount,
      ...(account !== undefined && { beneficiary_account: account }),
    };
    const { title } = await pay(live.world, payout, AbortSignal.timeout(35_000));
    return `${reference}, ${rupees(amount)}: ${title}.`;
  };
  const to = account === undefined ? '' : ` to ${account}`;
  return {
    title: `Pay ${rupees(amount)}${to}`,
    note: 'sent by the dashboard',
    act: () => void perform(live, send),
  };
}

function moneyCommand(live: LiveWorld, words: string): Command | null {
  const match = /^(credit|debit)\s+(.+)$/.exec(words);
  if (match === null) return null;
  const [, what, text] = match as unknown as [string, 'credit' | 'debit', string];
  const amount = parseAmount(text);
  const title = what === 'credit' ? 'Credit' : 'Debit';
  if (amount === null) return { title, note: noAmountText(text) };
  const act = (): void => void perform(live, () => moveMoney(live, what, amount), MONEY_EFFECTS);
  return { title: `${title} ${rupees(amount)}`, note: 'the balance', act };
}

function advanceCommand(live: LiveWorld, words: string): Command | null {
  const match = /^advance(?:\s+(.+))?$/.exec(words);
  if (match === null) return null;
  const [, text] = match;
  if (text === undefined) return ADVANCE;
  const act = (): void => void perform(live, () => advance(live, text), CLOCK_EFFECTS);
  return { title: `Advance ${text}`, note: 'the clock', act };
}

type OrderWords = readonly [string, Times, RouteName | undefined, string];

/** `next initiate 500 after payout`: the words in any order of the failure's own. */
function orderCommands(live: LiveWorld, words: string): readonly Command[] {
  const match = /^(next 3|next|every)(?:\s+(initiate|status|balance))?\s*(.*)$/.exec(words);
  if (match === null) return [];
  const [, times, route = 'initiate', rest] = match as unknown as OrderWords;
  const wanted = rest
    .replace('commit', 'payout')
    .split(' ')
    .filter((word) => word !== '');
  return FAILURES.filter(
    ({ routes, text }) => routes.includes(route) && wanted.every((word) => text.includes(word)),
  ).map((failure) => {
    const title = `${times === 'every' ? 'Every' : `The ${times}`} ${route} ${failure.text}`;
    const count = TIMES[times];
    const act = (): void =>
      orderRule(
        live,
        ruleOf(failure, route, times),
        title.replace(/^./, (first) => first.toLowerCase()),
      );
    return {
      title,
      note: count === null ? 'until it is removed' : `${count} ${count === 1 ? 'time' : 'times'}`,
      act,
    };
  });
}

const MOST_FOUND = 5;

/** Payouts and requests that are named by a reference, an id or `#12`. What is named exactly comes first. */
function openCommands({ payouts, requests }: LiveWorld, words: string): readonly Command[] {
  const wanted = words.replace(/^open\s+/, '');
  if (wanted === '') return [];
  const request = requests.get(Number(/^#?(\d+)$/.exec(wanted)?.[1] ?? 0));
  const isNamed = ({ client_ref_id: ref }: { readonly client_ref_id: string }): boolean =>
    ref.toLowerCase() === wanted;
  const found = payouts.rows.value
    .filter(
      ({ client_ref_id: ref, txn_id: id }) =>
        ref.toLowerCase().includes(wanted) || id.toLowerCase() === wanted,
    )
    .toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)))
    .slice(0, MOST_FOUND)
    .map(({ client_ref_id: ref, txn_id: id, status, amount }): Command => ({
      title: `Open ${ref}`,
      note: `${status}, ${rupees(amount)}`,
      act: () => openPayout(id),
    }));
  if (request === undefined) return found;
  const act = (): void => openRequest(request.id);
  return [
    { title: `Open request #${request.id}`, note: request.route ?? request.request.path, act },
    ...found,
  ];
}

/** What is done in a view, where it may ask for more. */
const IN_VIEWS: Partial<Record<ViewName, readonly string[]>> = {
  conduct: ['Break my client'],
  scenario: ['Edit the scenario as YAML', 'Add a rule'],
  world: ['Reset the world', 'Save a snapshot', 'Load a snapshot', 'Fork the world', 'Export payouts (CSV)'],
};

const inView = (view: ViewName): readonly Command[] =>
  (IN_VIEWS[view] ?? []).map((title) => ({
    title,
    note: `in the view ${VIEWS[view]}`,
    act: () => showView(view),
  }));

/** The commands without arguments. */
function plainCommands(live: LiveWorld): readonly Command[] {
  const views = Object.entries(VIEWS).map(([view, name], nth): Command => ({
    title: name,
    note: `view, ${nth + 1}`,
    act: () => showView(view as ViewName),
  }));
  const themes = THEMES.map((name): Command => ({
    title: `Theme: ${name}`,
    note: 'of the dashboard',
    act: () => chooseTheme(name),
  }));
  const isFrozen = live.clock.value?.frozen === true;
  const last = live.summary.value?.last_action ?? null;
  return [
    { title: 'Risk', note: 'the payouts at risk', act: showRisk },
    {
      title: isFrozen ? 'Resume' : 'Freeze',
      note: 'the clock, f',
      act: () => toggleClock(live),
    },
    ...SPEEDS.map((speed): Command => ({
      title: `Run ${grouped(speed)} times as fast`,
      note: 'the clock',
      act: () => setSpeed(live, speed),
    })),
    {
      title: 'Undo',
      note: last === null ? 'the last action' : `the last action: ${last.name}, ${istMoment(last.at)}`,
      act: () => void undo(live, { action: last?.action ?? 0 }), // 0 is refused
    },
    {
      title: 'Back to normal',
      note: 'no overrides, the scenario of the server',
      act: () => backToNormal(live),
    },
    ...views,
    { title: 'Show another world', note: 'with another key', act: () => chooseKey(null) },
    { title: 'Credit', note: 'credit 500', typed: 'credit ' },
    { title: 'Debit', note: 'debit 500', typed: 'debit ' },
    { title: 'Explain', note: 'in the form Pay: which rule would apply to a payout', act: () => show('pay') },
    ...(Object.keys(VIEWS) as ViewName[]).flatMap(inView),
    ...themes,
  ];
}

const scenarioCommands = (live: LiveWorld): readonly Command[] =>
  (live.scenarios.value?.scenarios ?? []).map(({ name }) => ({
    title: `Use ${name}`,
    note: 'the scenario of this world',
    act: () => chooseScenario(live, name),
  }));

/** What these words can mean, the best first. Without words, everything. */
export function commandsFor(live: LiveWorld, text: string): readonly Command[] {
  const typed = text.trim().replaceAll(/\s+/g, ' ');
  const words = typed.toLowerCase();
  const examples: readonly Command[] = [
    PAY,
    ADVANCE,
    { title: 'Add a failure …', note: 'next initiate 500 after payout', typed: 'next ' },
    { title: 'Use …', note: 'use rate-limited: a scenario', typed: 'use ' },
    { title: 'Open …', note: 'open order-1, open #12', typed: 'open ' },
  ];
  const plain = [...plainCommands(live), ...(words === '' ? examples : scenarioCommands(live))];
  const own = [payCommand(live, typed), moneyCommand(live, words), advanceCommand(live, words)].filter(
    (one) => one !== null,
  );
  return [
    ...own,
    ...orderCommands(live, words),
    ...plain.filter(({ title }) => words.split(' ').every((word) => title.toLowerCase().includes(word))),
    ...(own.length > 0 ? [] : openCommands(live, words)),
  ];
}
