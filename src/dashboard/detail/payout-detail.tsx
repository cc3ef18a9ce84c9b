import { useEffect, useState } from 'preact/hooks';
import type { EntryAnswer, JournalEntry, TransactionAnswer } from '../../contract/control-answers.ts';
import { useAction } from '../live/action.ts';
import { AnswerBadge, RiskBadge, StateBadge } from './badges.tsx';
import { CopyButton } from './copy-button.tsx';
import { curlOf } from './curl.ts';
import { rupees, signedRupees } from '../lists/formats.ts';
import { wentWrong } from '../lists/request-filter.ts';
import type { Risk } from '../lists/request-list.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { Moment } from './moment.tsx';
import { PayoutTimeline } from './payout-timeline.tsx';
import { useWorldNow } from '../live/world-time.ts';
import { Refusal } from './refusal.tsx';
import { Fact } from './fact.tsx';

interface Props {
  readonly live: LiveWorld;
  readonly payout: TransactionAnswer;
  readonly onOpenRequest: (id: number) => void;
}

/** The entries and requests of one payout, including those that are not in the lists of the page. */
function usePast(
  { world, feed, readings }: LiveWorld,
  { txn_id: txnId, status }: TransactionAnswer,
  requestsVersion: number,
) {
  const [entries, setEntries] = useState<readonly EntryAnswer[]>([]);
  const [requests, setRequests] = useState<readonly JournalEntry[]>([]);
  const connection = feed.connection.value;
  const reading = readings.value;
  useEffect(() => {
    let isOver = false;
    const asked = feed.answerTo(world.entries({ txn_id: txnId }));
    void asked.then((all) => !isOver && all !== null && setEntries(all));
    return () => (isOver = true);
  }, [world, txnId, status, connection, reading]);
  useEffect(() => {
    let isOver = false;
    const asked = feed.answerTo(world.requests({ txn_id: txnId }));
    void asked.then((all) => !isOver && all !== null && setRequests(all));
    return () => (isOver = true);
  }, [world, txnId, requestsVersion, connection, reading]);
  return { entries, requests };
}

/** Whether the client has been told of the payout since the request that failed, in words. */
function sinceText({ requestId }: Risk, requests: readonly JournalEntry[]): string {
  const told = requests.find((later) => later.id > requestId && !wentWrong(later));
  if (told === undefined) return 'It has not been told of this payout since.';
  return `It has been told of this payout since, by request #${told.id}.`;
}

/** One payout: its timeline, ledger entries and requests, and its legal transitions. */
export function PayoutDetail({ live, payout, onOpenRequest }: Props) {
  const nowMs = useWorldNow(live) ?? 0;
  const { isBusy, refusal, run } = useAction();
  const mine =
    live.requestsVersion.value === 0
      ? 0
      : live.requests.rows.filter((row) => row.txn_id === payout.txn_id).length;
  const { entries, requests } = usePast(live, payout, mine);
  const risk = live.requests.atRisk.get(payout.txn_id);
  const force = (to: 'SUCCESS' | 'FAILED' | 'REVERSED') => (): void =>
    run(async () => {
      live.takePayout(await live.world.transition(payout.txn_id, to));
      live.news.say(`${payout.client_ref_id} is ${to}`);
    });
  const query = new URLSearchParams({ txn_id: payout.txn_id }).toString();
  const curl = () =>
    curlOf({ method: 'GET', url: `${live.world.url}/payout/status?${query}`, apiKey: live.world.apiKey });

  return (
    <>
      <p class="headline">
        <span class="amount">{rupees(payout.amount)}</span> <StateBadge state={payout.status} />
        {risk !== undefined && <RiskBadge risk={risk} />}
      </p>
      {risk !== undefined && (
        <p class="refusal">
          This payout was made, but the {risk.seen} to{' '}
          <button type="button" class="link" onClick={() => onOpenRequest(risk.requestId)}>
            request #{risk.requestId}
          </button>
          . {sinceText(risk, requests)}
        </p>
      )}
      <p class="note">{payout.reason}</p>
      {payout.hidden_by !== null && <p class="warning">Hidden from status reads by {payout.hidden_by}</p>}
      <PayoutTimeline payout={payout} nowMs={nowMs} />
      <div class="buttons">
        {payout.legal.map(
          (to) =>
            to !== 'PENDING' && (
              <button key={to} type="button" class="button" disabled={isBusy} onClick={force(to)}>
                Make it {to}
              </button>
            ),
        )}
        <CopyButton label="Copy status as curl" text={curl} />
      </div>
      <Refusal text={refusal} />
      <dl class="facts">
        <Fact name="Reference">
          {payout.nth === 1
            ? payout.client_ref_id
            : `${payout.client_ref_id} (payout ${payout.nth} of this reference)`}
        </Fact>
        <Fact name="Transaction">{payout.txn_id}</Fact>
        <Fact name="Beneficiary">{payout.beneficiary_name}</Fact>
        <Fact name="Account">{`${payout.beneficiary_account} · ${payout.beneficiary_ifsc}`}</Fact>
        <Fact name="Mode">{payout.transfer_mode}</Fact>
        <Fact name="UTR">{payout.utr ?? 'none yet'}</Fact>
        <Fact name="Planned by">{payout.planned_by}</Fact>
        <Fact name="Created">
          <Moment at={payout.created_at} />
        </Fact>
      </dl>
      <h3>Ledger</h3>
      <ul class="lines">
        {entries.map((entry, index) => (
          <li key={index}>
            <span>{entry.kind}</span>
            <span class={entry.amount < 0 ? 'number' : 'number in'}>{signedRupees(entry.amount)}</span>
            <span class="number note">{rupees(entry.balance)} after</span>
            <span class="note">
              <Moment at={entry.at} isShort />
            </span>
          </li>
        ))}
      </ul>
      <h3>Requests</h3>
      {requests.length === 0 && <p class="note">The journal no longer has requests of this payout.</p>}
      <ul class="lines">
        {requests.map((entry) => (
          <li key={entry.id}>
            <button type="button" class="link" onClick={() => onOpenRequest(entry.id)}>
              #{entry.id} {entry.route ?? entry.request.path}
            </button>
            <AnswerBadge entry={entry} />
            <span class="note">{entry.rule ?? ''}</span>
            <span class="note">
              <Moment at={entry.at} isShort />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
