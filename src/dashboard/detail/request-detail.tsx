import type { JournalEntry } from '../../contract/control-answers.ts';
import { AnswerBadge, PaidBadge } from './badges.tsx';
import { CopyButton } from './copy-button.tsx';
import { curlOfRequest } from './curl.ts';
import { duration, readable, rupees } from '../lists/formats.ts';
import { isPaidUnseen } from '../lists/request-filter.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { Fact } from './fact.tsx';
import { Moment } from './moment.tsx';

interface BlockProps {
  readonly title: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** The request or the answer: its body, and its headers folded away. */
const Block = ({ title, headers, body }: BlockProps) => (
  <>
    <h4>{title}</h4>
    {body === null || body === '' ? (
      <p class="note">No body</p>
    ) : (
      <pre tabIndex={0} aria-label={`${title}: body`}>
        {readable(body)}
      </pre>
    )}
    <details>
      <summary>Headers</summary>
      <pre tabIndex={0} aria-label={`${title}: headers`}>
        {Object.entries(headers)
          .map(([name, value]) => `${name}: ${String(value)}`)
          .join('\n')}
      </pre>
    </details>
  </>
);

/** Whether the request moved money, in words. */
function moneyText({
  committed,
  replayed,
  balance_before: before,
  balance_after: after,
}: JournalEntry): string {
  if (replayed) return 'Replayed: an earlier request made this payout';
  if (committed === null) return 'This request makes no payout, or has not ended yet';
  if (!committed) return 'No payout was made';
  return before === null || after === null ? 'Committed' : `Committed: ${rupees(before)} → ${rupees(after)}`;
}

const happened = ({ outcome, fault, duration_ms: ms }: JournalEntry): string => {
  const took = ms === null ? '' : ` after ${duration(ms)}`;
  switch (outcome) {
    case 'pending':
      return 'Still hanging: no answer yet';
    case 'answered':
      return `Answered${took}`;
    case 'fault':
      return `Connection broken by a rule (${fault ?? 'fault'})${took}`;
    case 'client_gone':
      return `The client disconnected${took}`;
  }
};

interface Props {
  readonly live: LiveWorld;
  readonly entry: JournalEntry;
  readonly onOpenPayout: (txnId: string) => void;
}

/** One request with its answer, what decided the answer, and whether money moved. */
export function RequestDetail({ live, entry, onOpenPayout }: Props) {
  const { rule, limit, code, delay_ms: delay, attempt, txn_id: txnId, warnings, answer, request } = entry;
  const { planned_by: plannedBy } = entry;
  const made =
    rule !== null ? `the rule ${rule}` : limit !== null ? `the limit ${limit}` : 'no rule: the normal answer';
  return (
    <>
      <p class="headline">
        <code>
          {request.method} {request.path}
        </code>{' '}
        <AnswerBadge entry={entry} /> {isPaidUnseen(entry) && <PaidBadge />}
      </p>
      <dl class="facts">
        <Fact name="What happened">{happened(entry)}</Fact>
        <Fact name="Answer decided by">
          {made}
          {delay !== null && `, delayed by ${duration(delay)}`}
          {code !== null && ` (${code})`}
        </Fact>
        <Fact name="Money">{moneyText(entry)}</Fact>
        {plannedBy !== null && <Fact name="Payout planned by">{plannedBy}</Fact>}
        <Fact name="World time">
          <Moment at={entry.at} />
        </Fact>
        {attempt !== null && <Fact name="Attempt">{attempt} of this reference</Fact>}
      </dl>
      {warnings.map((warning) => (
        <p key={warning} class="warning">
          {warning}
        </p>
      ))}
      <div class="buttons">
        <CopyButton
          label="Copy as curl"
          text={() => curlOfRequest(entry, live.world.url, live.world.apiKey)}
        />
        {txnId !== null && (
          <button type="button" class="button small" onClick={() => onOpenPayout(txnId)}>
            Open the payout
          </button>
        )}
      </div>
      <Block title="Request" headers={request.headers} body={request.body} />
      {answer === null ? (
        <>
          <h4>Answer</h4>
          <p class="note">
            {entry.outcome === 'pending' ? 'None yet' : 'None: the connection was closed before an answer'}
          </p>
        </>
      ) : (
        <Block title={`Answer ${answer.status}`} headers={answer.headers} body={answer.body} />
      )}
    </>
  );
}
