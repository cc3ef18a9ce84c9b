import { useEffect, useMemo, useState } from 'preact/hooks';
import type { EntryResponse, JournalEntry, TransactionResponse } from '../../contract/control-responses.ts';
import { RuleLink } from '../scenario/rule-link.tsx';
import { useAction, useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { worldNowMs } from '../store/world-time.ts';
import { KnowsMark, StateMark } from '../ui/badges.tsx';
import { Button } from '../ui/button.tsx';
import { rupees, signedRupees } from '../../contract/words.ts';
import { timesInIst } from '../ui/formats.ts';
import { Amount, Fact, Foreign, Moment, Refusal } from '../ui/marks.tsx';
import { PayoutStory } from './payout-story.tsx';
import { storyOf } from './two-lanes.ts';

interface Props {
  readonly payout: TransactionResponse;
}

interface Past {
  readonly entries: readonly EntryResponse[];
  readonly requests: readonly JournalEntry[];
}

/** The entries and requests of one payout, including those that are not in the lists of the page; null before they are read. */
function usePast(live: LiveWorld, { txn_id, client_ref_id, status, told }: TransactionResponse): Past | null {
  const [past, setPast] = useState<(Past & { readonly of: string }) | null>(null);
  const { world, feed, readings } = live;
  const mine = live.requests.rows.value.filter(
    (row) => row.txn_id === txn_id || row.client_ref_id === client_ref_id,
  );
  useEffect(() => {
    let isOver = false;
    const read = async (): Promise<void> => {
      const asked = [
        world.entries({ txn_id }),
        world.requests({ txn_id }),
        world.requests({ client_ref_id }),
      ] as const;
      const answer = await feed.answerTo(Promise.all(asked));
      if (isOver || answer === null) return;
      const [entries, ...requests] = answer;
      const byId = new Map(requests.flat().map((entry) => [entry.id, entry]));
      setPast({ of: txn_id, entries, requests: [...byId.values()].toSorted((a, b) => a.id - b.id) });
    };
    void read();
    return () => (isOver = true);
  }, [
    world,
    txn_id,
    status,
    told?.request,
    mine.map(({ id, outcome }) => id + outcome).join(),
    feed.connection.value,
    readings.value,
  ]);
  return past?.of === txn_id ? past : null;
}

/** Why a payout is in its state, with a link to what decided it. */
function Why({ payout: { reason, planned_by: plannedBy, hidden_by: hiddenBy } }: Pick<Props, 'payout'>) {
  const at = reason.indexOf(plannedBy);
  return (
    <p>
      {timesInIst(at === -1 ? reason : reason.slice(0, at))}
      {at !== -1 && <RuleLink id={plannedBy} />}
      {at !== -1 && timesInIst(reason.slice(at + plannedBy.length))}
      {hiddenBy !== null && (
        <>
          . Status reads do not find it: <RuleLink id={hiddenBy} />
        </>
      )}
    </p>
  );
}

/** One payout: its story, its facts, and its legal transitions. */
export function PayoutPanel({ payout }: Props) {
  const live = useLive();
  const nowMs = worldNowMs(live) ?? 0;
  const { isBusy, refusal, run } = useAction();
  const past = usePast(live, payout);
  const seconds = Math.floor(nowMs / 1000);
  const story = useMemo(
    () => (past === null ? [] : storyOf(payout, past.entries, past.requests, nowMs)),
    [payout, past, seconds],
  );
  const force = (to: 'SUCCESS' | 'FAILED' | 'REVERSED') => (): void =>
    run(async () => {
      await live.world.transition(payout.txn_id, to);
      return `${payout.client_ref_id} is ${to}.`;
    });
  return (
    <>
      <p class="headline">
        <span class="big">
          <Amount inr={payout.amount} />
        </span>
        <StateMark state={payout.status} />
        <KnowsMark payout={payout} />
      </p>
      <Why payout={payout} />
      {payout.at_risk && (
        <p class="risk-text">
          No response has told the client of this payout. A client that treats it as a failure pays again.
        </p>
      )}
      {past === null ? (
        <p class="note">Loading</p>
      ) : (
        <PayoutStory payout={payout} story={story} nowMs={nowMs} />
      )}
      <div class="buttons">
        {payout.legal.map(
          (to) =>
            to !== 'PENDING' && (
              <Button key={to} isBusy={isBusy} act={force(to)}>
                Make it {to}
              </Button>
            ),
        )}
      </div>
      <Refusal text={refusal} />
      <details>
        <summary>Facts and ledger</summary>
        <dl class="facts">
          <Fact name="Reference" copy={payout.client_ref_id}>
            <Foreign text={payout.client_ref_id} />
            {payout.nth > 1 && ` (payout ${payout.nth} of this reference)`}
          </Fact>
          <Fact name="Payout" copy={payout.txn_id}>
            <code>{payout.txn_id}</code>
          </Fact>
          <Fact name="Beneficiary">
            <Foreign text={payout.beneficiary_name} />
          </Fact>
          <Fact name="Account">
            <Foreign text={`${payout.beneficiary_account} · ${payout.beneficiary_ifsc}`} />
          </Fact>
          <Fact name="Mode">{payout.transfer_mode}</Fact>
          <Fact name="UTR" copy={payout.utr}>
            <code>{payout.utr ?? (payout.status === 'FAILED' ? 'none' : 'none yet')}</code>
          </Fact>
          <Fact name="Created">
            <Moment at={payout.created_at} />
          </Fact>
          {(past?.entries ?? []).map((entry, index) => (
            <Fact key={index} name={entry.kind}>
              {signedRupees(entry.amount)} <span class="dim">{rupees(entry.balance)} after</span>
            </Fact>
          ))}
        </dl>
      </details>
    </>
  );
}
