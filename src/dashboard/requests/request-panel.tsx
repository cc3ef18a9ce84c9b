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
import { receivedText, statusOf, wentWrong } from '../ui/request-words.ts';
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
    {(body ?? '') === '' ? (
      <p class="note">{body === undefined ? 'Body not read' : 'No body'}</p>
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

/** What a fault does, where it does not break the connection. */
const FAULTS: Readonly<Record<string, string>> = {
  hang: 'Timed out without a response', // by the client, or by the rule
  'malformed-json': 'Sent invalid JSON',
  'slow-body': 'The client disconnected',
};
const ENDS = { pending: 'No response yet', answered: 'Responded', client_gone: 'The client disconnected' };

function happened({ outcome, fault, limit, duration_ms: ms }: JournalEntry): string {
  const by = fault === null ? `the limit ${limit}` : `a rule (${fault})`;
  const what = outcome === 'fault' ? (FAULTS[fault ?? ''] ?? `Connection broken by ${by}`) : ENDS[outcome];
  return ms === null ? what : `${what} after ${duration(ms)}`;
}

/** Whether the client did not get the response whole. */
const isLost = (entry: JournalEntry): boolean => entry.outcome !== 'pending' && statusOf(entry) === 0;

/** What the client got instead of a success. */
function headOf(entry: JournalEntry): string {
  if (isLost(entry)) return `The client received ${receivedText(entry)}`;
  const { message } = Object(entry.answer?.body) as { readonly message?: unknown };
  return wentWrong(entry) && typeof message === 'string' ? message : '';
}

/** Whether a request had a body that nobody read; one that is the JSON `null` is refused as such. */
const isUnread = ({ request: { headers, body }, code }: JournalEntry): boolean =>
  body === null && Number(headers['content-length']) > 0 && code !== 'INVALID_REQUEST';

/** One request with its response, what decided the response, and whether money moved. */
export function RequestPanel({ entry }: { readonly entry: JournalEntry }) {
  const { world, requests } = useLive();
  const { rule, limit, code, delay_ms: delay, attempt, client_ref_id: ref, txn_id: txnId } = entry;
  const { planned_by: plannedBy, cut, warnings, answer, request, outcome } = entry;
  const head = headOf(entry);
  const siblings = ref === null ? [] : requests.rows.value.filter((row) => row.client_ref_id === ref);
  return (
    <>
      <p class="headline">
        <code>
          {request.method} {request.path}
        </code>{' '}
        <ResponseMark entry={entry} />
      </p>
      {head !== '' && <Foreign text={head} />}
      <dl class="facts">
        <Fact name="What happened">{happened(entry)}</Fact>
        <Fact name="Decided by">
          <RuleLink id={rule ?? (limit === null ? (code ?? 'no rule') : `the limit ${limit}`)} />
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
      {cut.length > 0 && <p class="notice">The sandbox kept only a part of its {cut.join(' and ')}.</p>}
      <div class="buttons">
        <CopyButton label="Copy as curl" text={() => curlOfRequest(entry, world.url, world.apiKey)} />
      </div>
      <Block title="Request" headers={request.headers} body={isUnread(entry) ? undefined : request.body} />
      {answer === null ? (
        <>
          <h3>Response</h3>
          <p class="note">
            {outcome === 'pending' ? 'None yet' : 'None: the connection was closed before a response'}
          </p>
        </>
      ) : (
        <Block
          title={`${isLost(entry) ? 'What would have been sent:' : 'Response'} ${answer.status}`}
          headers={answer.headers}
          body={answer.body}
        />
      )}
    </>
  );
}
