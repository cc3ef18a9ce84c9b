import { advance, setSpeed, SPEEDS, speedText, toggleClock } from '../actions/clock-moves.ts';
import { FAILURES, ruleOf, type Times } from '../actions/failure-kinds.ts';
import { moveMoney } from '../actions/money-moves.ts';
import { backToNormal, chooseScenario, orderRule } from '../actions/rule-orders.ts';
import { freshReference, pay } from '../actions/sending.ts';
import { breakClient } from '../conduct/break-client.tsx';
import type { RouteName } from '../../contract/match.ts';
import { VIEWS, type ViewName } from '../shell/address.ts';
import { openPayout, openRequest, showPayouts, showRequestsOf, showView } from '../shell/navigation.ts';
import { show } from '../shell/overlay.ts';
import { chooseKey } from '../shell/session.ts';
import { perform, undo } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { often, rupees, writtenInr } from '../../contract/words.ts';
import { isResetWanted, savePayouts, saveSnapshot } from '../world/world-moves.ts';
import { istMoment, noAmountText } from '../ui/formats.ts';

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

const command = (title: string, note: string, act: () => void): Command => ({ title, note, act });

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
  const amount = writtenInr(text);
  if (amount === undefined) return { title: 'Pay …', note: noAmountText(text) };
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
  const amount = writtenInr(text);
  const title = what === 'credit' ? 'Credit' : 'Debit';
  if (amount === undefined) return { title, note: noAmountText(text) };
  const act = (): void => void perform(live, () => moveMoney(live, what, amount), ['wallet']);
  return { title: `${title} ${rupees(amount)}`, note: 'the balance', act };
}

/** A duration or a time: whether it is one, the sandbox knows. */
const TIME = /^\+?(?=\d+ ?[a-z]|\d{4}-)/;

function advanceCommand(live: LiveWorld, words: string): Command | null {
  const [, text] =
    /^advance(?:\s+(.+))?$/.exec(TIME.test(words) ? `advance ${words.replace(/^\+/, '')}` : words) ?? [];
  if (text === undefined) return words === 'advance' ? ADVANCE : null;
  const act = (): void => void perform(live, () => advance(live, text), ['clock']);
  return { title: `Advance ${text}`, note: 'the clock', act };
}

type OrderWords = readonly [string, Times, RouteName | undefined, string];

/** `next initiate 500 after payout`: the words in any order of the failure's own. Its name alone is one of the next initiate. */
function orderCommands(live: LiveWorld, words: string): readonly Command[] {
  const sentence = /^(next 3|next|every)(?:\s+(initiate|status|balance))?\s*(.*)$/;
  if (words === '') return [];
  const [, times, route = 'initiate', rest] = (sentence.exec(words) ??
    sentence.exec(`next ${words}`)) as unknown as OrderWords;
  const wanted = rest.replace('commit', 'payout').replace('hang', 'timeout').split(' ');
  return FAILURES[route]
    .filter(({ name, text }) => wanted.every((word) => `${name} ${text}`.includes(word)))
    .map((failure) => {
      const rule = ruleOf(failure, route, times);
      const title = rule.description.replace(/^./, (first) => first.toUpperCase());
      const note = rule.times === undefined ? 'until it is removed' : often(rule.times);
      return { title, note, act: () => orderRule(live, rule) };
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
    .map(({ client_ref_id: ref, txn_id: id, status, amount }) =>
      command(`Open ${ref}`, `${status}, ${rupees(amount)}`, () => openPayout(id)),
    );
  if (request !== undefined) {
    const note = request.route ?? request.request.path;
    return [command(`Open request #${request.id}`, note, () => openRequest(request.id)), ...found];
  }
  const refused = requests.rows.value.find((row) => row.client_ref_id?.toLowerCase() === wanted);
  if (found.length > 0 || refused === undefined) return found;
  return [command(`Requests of ${refused.client_ref_id}`, 'no payout', () => showRequestsOf(wanted))];
}

/** What concerns the world as a whole, or its client. */
function worldCommands(live: LiveWorld): readonly Command[] {
  const save = (what: (world: LiveWorld) => Promise<void>, said: string) => (): void =>
    void perform(live, async () => {
      await what(live);
      return said;
    });
  const reset = (): void => {
    isResetWanted.value = true;
    showView('world');
  };
  const breakIt = (): void => {
    breakClient(live);
    showView('conduct');
  };
  return [
    command('Break my client', 'nine failures for the next nine payouts', breakIt),
    command('Reset the world', 'asks if something is lost', reset),
    command('Save a snapshot', 'a file', save(saveSnapshot, 'The snapshot is saved.')),
    command('Export payouts (CSV)', 'a file', save(savePayouts, 'The payouts are saved.')),
    command('Load a snapshot', 'in the view World', () => showView('world', '[data-load] button')),
    command('Edit the scenario as YAML', 'in the view Scenario', () => showView('scenario')),
  ];
}

/** The commands without arguments. */
function plainCommands(live: LiveWorld): readonly Command[] {
  const isFrozen = live.clock.value?.frozen === true;
  const own = live.world.lastAction ?? 0; // known before the summary is read again
  const last = live.summary.value?.last_action ?? null;
  const isLatest = last !== null && last.action >= own;
  const lastText = isLatest ? `the last action: ${last.name}, ${istMoment(last.at)}` : 'the last action';
  return [
    command('At risk', 'payouts that no response has shown', () => showPayouts('at_risk')),
    command('Out of date', 'payouts whose final state was not seen', () => showPayouts('out_of_date')),
    command(isFrozen ? 'Resume' : 'Freeze', 'the clock, f', () => toggleClock(live)),
    ...SPEEDS.filter((speed) => speed > 0).map((speed) =>
      command(`Speed: ${speedText(speed)}`, 'the clock', () => setSpeed(live, speed)),
    ),
    command('Undo', lastText, () => void undo(live, isLatest ? last.action : own)), // 0 is refused
    command('Back to normal', 'no added rules, the scenario of the server', () => backToNormal(live)),
    ...Object.entries(VIEWS).map(([view, name], nth) =>
      command(name, `view, ${nth + 1}`, () => showView(view as ViewName)),
    ),
    command('Show another world', 'with another key', () => chooseKey(null)),
    { title: 'Credit', note: 'credit 500', typed: 'credit ' },
    { title: 'Debit', note: 'debit 500', typed: 'debit ' },
    command('Help', 'the keys, ?', () => show('keys')),
    ...worldCommands(live),
  ];
}

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
  const read = [payCommand(live, typed), moneyCommand(live, words), advanceCommand(live, words)];
  const own = read.filter((one) => one !== null);
  const isOrder = /^(next|every)\b/.test(words);
  const matching = (all: readonly Command[]) =>
    all.filter(({ title, note }) =>
      words.split(' ').every((word) => `${title} ${note}`.toLowerCase().includes(word)),
    );
  const plain = matching(plainCommands(live));
  const scenarios = (live.scenarios.value?.scenarios ?? []).map(({ name }) =>
    command(`Use ${name}`, 'the scenario of this world', () => chooseScenario(live, name)),
  );
  const orders = own.length > 0 ? [] : orderCommands(live, words);
  return [
    ...own,
    ...(isOrder ? [...orders, ...plain] : [...plain, ...orders]),
    ...(words === '' ? examples : matching(scenarios)),
    ...(own.length > 0 ? [] : openCommands(live, words)),
  ];
}
