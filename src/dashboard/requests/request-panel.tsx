import type { JournalEntry } from '../../contract/control-responses.ts';
import { isFromPage } from '../actions/sending.ts';
import { openPayout } from '../shell/navigation.ts';
import { RuleLink } from '../scenario/rule-link.tsx';
import { useLive } from '../store/current-world.ts';
import { ResponseMark } from '../ui/badges.tsx';
import { Button, CopyButton } from '../ui/button.tsx';
import { rupees } from '../../contract/words.ts';
import { duration, readable } from '../ui/formats.ts';
import { Fact, Foreign, Moment } from '../ui/marks.tsx';
import { wentWrong } from '../ui/request-words.ts';
import { curlOfRequest } from './curl.ts';
import { RequestLinks } from './request-links.tsx';

interface BlockProps {
  readonly title: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** The request or the response: its body, and its headers folded away. */
const Block = ({ title, headers, body }: BlockProps) => (
  <>
    <h3>{title}</h3>
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
function moneyText({ committed, replayed, ...balance }: JournalEntry): string {
  const { balance_before: before, balance_after: after } = balance;
  if (replayed) return 'Replayed: an earlier request made this payout';
  if (committed === null) return 'This request makes no payout, or has not ended yet';
  if (!committed) return 'Not paid';
  return before === null || after === null
    ? 'Paid'
    : `Paid: the balance ${rupees(before)} → ${rupees(after)}`;
}

const happened = ({ outcome, fault, limit, duration_ms: ms }: JournalEntry): string => {
  const took = ms === null ? '' : ` after ${duration(ms)}`;
  switch (outcome) {
    case 'pending':
      return 'No response yet';
    case 'answered':
      return `Responded${took}`;
    case 'fault':
      return `Connection broken by ${fault === null ? `the limit ${limit}` : `a rule (${fault})`}${took}`;
    case 'client_gone':
      return `The client disconnected${took}`;
  }
};

/** One request with its response, what decided the response, and whether money moved. */
export function RequestPanel({ entry }: { readonly entry: JournalEntry }) {
  const { world, requests } = useLive();
  const { rule, limit, code, delay_ms: delay, attempt, client_ref_id: ref, txn_id: txnId } = entry;
  const { planned_by: plannedBy, cut, warnings, answer, request } = entry;
  const { message } = Object(answer?.body) as { readonly message?: unknown };
  const siblings = ref === null ? [] : requests.rows.value.filter((row) => row.client_ref_id === ref);
  return (
    <>
      <p class="headline">
        <code>
          {request.method} {request.path}
        </code>{' '}
        <ResponseMark entry={entry} />
      </p>
      {wentWrong(entry) && typeof message === 'string' && <Foreign text={message} />}
      <dl class="facts">
        <Fact name="What happened">{happened(entry)}</Fact>
        <Fact name="Decided by">
          {rule !== null ? (
            <RuleLink id={rule} />
          ) : limit !== null ? (
            `the limit ${limit}`
          ) : (
            (code ?? 'no rule')
          )}
          {delay !== null && `, delayed by ${duration(delay)}`}
        </Fact>
        <Fact name="Money">{moneyText(entry)}</Fact>
        {plannedBy !== null && (
          <Fact name="Planned by">
            <RuleLink id={plannedBy} />
          </Fact>
        )}
        {ref !== null && (
          <Fact name="Reference" copy={ref}>
            <Foreign text={ref} />
          </Fact>
        )}
        {siblings.length > 1 && (
          <Fact name="Its requests">
            <RequestLinks requests={siblings.map(({ id }) => id).toReversed()} />
          </Fact>
        )}
        {txnId !== null && (
          <Fact name="Payout" copy={txnId}>
            <Button kind="link" isLocal act={() => openPayout(txnId)}>
              {txnId}
            </Button>
          </Fact>
        )}
        <Fact name="World time">
          <Moment at={entry.at} />
        </Fact>
        {attempt !== null && <Fact name="Attempt">{attempt} of this reference</Fact>}
        {isFromPage(entry) && <Fact name="Sent by">the dashboard</Fact>}
      </dl>
      {warnings.map((warning) => (
        <p key={warning} class="notice">
          {warning}
        </p>
      ))}
      {cut.length > 0 && <p class="notice">The journal has only a part of its {cut.join(' and ')}.</p>}
      <div class="buttons">
        <CopyButton label="Copy as curl" text={() => curlOfRequest(entry, world.url, world.apiKey)} />
      </div>
      <Block title="Request" headers={request.headers} body={request.body} />
      {answer === null ? (
        <>
          <h3>Response</h3>
          <p class="note">
            {entry.outcome === 'pending' ? 'None yet' : 'None: the connection was closed before a response'}
          </p>
        </>
      ) : (
        <Block title={`Response ${answer.status}`} headers={answer.headers} body={answer.body} />
      )}
    </>
  );
}
