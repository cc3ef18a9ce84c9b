import type { EntryResponse, JournalEntry, TransactionResponse } from '../../contract/control-responses.ts';
import type { State } from '../../contract/service.ts';
import { signedRupees } from '../../contract/words.ts';
import { duration, istMoment, plain } from '../ui/formats.ts';
import { askedText, seenText, wentWrong } from '../ui/request-words.ts';

/** The story of a payout: what the bank did, and what the client saw of it, by world time. */

/** What the client knows: nothing, or the state that it was told last. */
type Known = State | null;

interface Moment {
  readonly atMs: number;
  readonly bank: string | null;
  readonly client: string | null;
  /** The request that the client's side is about. */
  readonly request: number | null;
  readonly isAhead: boolean;
  /** The state of the payout, and what the client knows of it, from here on; null before the payout, and where a moment changes nothing. */
  readonly state: Known;
  readonly known: Known;
}

/** What a moment says of neither side. */
const NOTHING = {
  bank: null,
  client: null,
  request: null,
  isAhead: false,
  state: null,
  known: null,
} as const;

/** How the two sides disagree from one moment to the next. */
export interface Gap {
  /** `untold`: the money is out, and the client does not know; `stale`: it does not know the state. */
  readonly kind: 'untold' | 'stale';
  /** How long they have disagreed in this way, at its end; null while it goes on with the next moment. */
  readonly ms: number | null;
}

export interface StoryLine extends Moment {
  readonly gap: Gap | null;
}

/** What the response to a request says of the payout; null if it says nothing. */
function toldBy(entry: JournalEntry): Known {
  if (wentWrong(entry) || entry.route === 'balance') return null;
  const { data } = Object(entry.answer?.body) as { readonly data?: { readonly status?: State } };
  return data?.status ?? null;
}

function clientText(entry: JournalEntry): string {
  const told = toldBy(entry);
  return `${askedText(entry)} → ${seenText(entry)}${told === null ? '' : `, ${told}`}`;
}

const moneyText = (entry: EntryResponse | undefined): string =>
  entry === undefined ? '' : `, ${signedRupees(entry.amount)}`;

/** The moments of the bank: the payout is made, its steps, and what is scheduled. */
function bankMoments(payout: TransactionResponse, entries: readonly EntryResponse[]): readonly Moment[] {
  const { created_at: createdAt, timeline } = payout;
  const made = entries.find(({ kind }) => kind === 'payout');
  const refund = entries.find(({ kind }) => kind === 'refund');
  let state: State = 'PENDING';
  let hasUtr = false;
  const steps = timeline.flatMap((step): Moment[] => {
    const { to, at, done, utr, forced } = step;
    if (at === null) return []; // it waits for status reads
    state = to ?? state;
    const isBack = to === 'FAILED' || to === 'REVERSED';
    const isFirstUtr = utr && !hasUtr;
    hasUtr ||= utr;
    const extra = `${to !== null && isFirstUtr ? ', with its UTR' : ''}${forced ? ' (forced)' : ''}`;
    const bank = `${to ?? 'UTR set'}${extra}${isBack && done ? moneyText(refund) : ''}`;
    return [{ ...NOTHING, atMs: Date.parse(at), bank, isAhead: !done, state }];
  });
  const bank = `PENDING${moneyText(made)}`;
  return [{ ...NOTHING, atMs: Date.parse(createdAt), bank, state: 'PENDING' }, ...steps];
}

const gapKind = ({ state, known }: Moment): Gap['kind'] | null => {
  if (state === null || state === known) return null;
  return known === null && (state === 'PENDING' || state === 'SUCCESS') ? 'untold' : 'stale';
};

/** A request of the client, and what its response told it. */
const clientMoment = (entry: JournalEntry): Moment => ({
  ...NOTHING,
  atMs: Date.parse(entry.at),
  client: clientText(entry),
  request: entry.id,
  known: toldBy(entry),
});

/** What the client was told by a request that the journal no longer has. */
function toldMoments({ told }: TransactionResponse, requests: readonly JournalEntry[]): readonly Moment[] {
  if (!told || requests.some(({ id }) => id === told.request)) return [];
  const { request, at, as: known } = told;
  const client = `#${request} → ${known}`;
  return [{ ...NOTHING, atMs: Date.parse(at), client, request, known }];
}

/** The moments in order, each with the state and what the client knows from then on. @param making the request that made the payout */
function inOrder(all: readonly Moment[], making: number | undefined): readonly Moment[] {
  // at the same moment: a request that makes the payout comes first, then what the bank does, then what the client asks
  const rank = ({ bank, request }: Moment): number => (request === making ? 0 : bank === null ? 2 : 1);
  const sorted = all.toSorted(
    (a, b) => a.atMs - b.atMs || rank(a) - rank(b) || (a.request ?? 0) - (b.request ?? 0),
  );
  let [state, known]: [Known, Known] = [null, null];
  const moments: Moment[] = [];
  for (const one of sorted) {
    state = one.state ?? (one.request === making ? (state ?? 'PENDING') : state);
    known = one.known ?? known;
    const last = moments.at(-1);
    const isMaking = last !== undefined && last.request === making && last.bank === null;
    const isOne = isMaking && one.bank !== null && last.atMs === one.atMs; // what it made belongs into its line
    if (isOne) moments[moments.length - 1] = { ...last, bank: one.bank, state, known };
    else moments.push({ ...one, state, known });
  }
  return moments;
}

/** Each moment with how the two sides agree until the next one, or until now. */
function withGaps(moments: readonly Moment[], nowMs: number): readonly StoryLine[] {
  const kindOf = (one: Moment): Gap['kind'] | null => (one.isAhead ? null : gapKind(one));
  const isSame = (one: Moment, other: Moment | undefined): boolean =>
    other !== undefined && kindOf(other) === kindOf(one) && other.known === one.known;
  let sinceMs = 0;
  return moments.map((one, index) => {
    const [before, next] = [moments[index - 1], moments[index + 1]];
    const kind = kindOf(one);
    if (!isSame(one, before)) sinceMs = one.atMs;
    const untilMs = next === undefined || next.isAhead ? nowMs : next.atMs;
    const ms = isSame(one, next) ? null : Math.max(0, untilMs - sinceMs);
    return { ...one, gap: kind && { kind, ms } };
  });
}

/**
 * The moments of a payout in order, each with how the two sides agree until the next one, or until now.
 *
 * @param entries of the ledger for this payout
 * @param requests of its reference or its id
 */
export function storyOf(
  payout: TransactionResponse,
  entries: readonly EntryResponse[],
  requests: readonly JournalEntry[],
  nowMs: number,
): readonly StoryLine[] {
  const making = requests.find(({ committed }) => committed === true)?.id;
  const moments = [
    ...bankMoments(payout, entries),
    ...requests.filter(({ route }) => route !== 'balance').map(clientMoment),
    ...toldMoments(payout, requests),
  ];
  return withGaps(inOrder(moments, making), nowMs);
}

/** A gap in words: `client saw only PENDING for 3 s`. */
export function gapText({ kind, ms }: Gap, known: Known): string {
  if (ms === null) return '';
  const length = ms === 0 ? 'at this moment' : `for ${duration(ms)}`;
  if (known !== null) return `client saw only ${known} ${length}`;
  return `client not told ${length}${kind === 'untold' ? ', and the money is out' : ''}`;
}

/** The story as Markdown, for a pull request or a chat. */
export function storyMarkdown(payout: TransactionResponse, story: readonly StoryLine[]): string {
  const cell = (text: string): string => plain(text).replaceAll('|', '\\|');
  const lines = story.flatMap(({ atMs, bank, client, gap, isAhead, known }) => {
    const line = `| ${istMoment(atMs)}${isAhead ? ' (scheduled)' : ''} | ${cell(bank ?? '')} | ${cell(client ?? '')} |`;
    if (gap === null || gap.ms === null) return [line];
    const text = gapText(gap, known);
    return [line, `| | | ${gap.kind === 'untold' ? `**${text}**` : text} |`];
  });
  return [
    `**${cell(payout.client_ref_id)}**, ${payout.transfer_mode}, ${signedRupees(-payout.amount)}, ${payout.status}`,
    '',
    '| world time | bank | your client |',
    '| --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}
