import type { JournalEntry } from '../../contract/control-responses.ts';
import { address, openRequest, useFilter } from '../shell/navigation.ts';
import { useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { ResponseMark } from '../ui/badges.tsx';
import { Choice } from '../ui/choice.tsx';
import { counted } from '../../contract/words.ts';
import { Foreign, Moment } from '../ui/marks.tsx';
import { askedText, seenText } from '../ui/request-words.ts';
import { ListView, type ListKind } from '../lists/list-view.tsx';
import { column } from '../lists/virtual-table.tsx';
import table from '../lists/table.module.css';
import { HeldList } from './held-list.tsx';
import { NO_FILTER, REQUEST_KINDS, wantedRequests, type RequestFilter } from './request-filter.ts';
import { RequestPanel } from './request-panel.tsx';

const moneyWord = ({ committed, replayed }: JournalEntry): string => {
  if (replayed) return 'replayed';
  return committed === null ? '' : committed ? 'paid' : 'not paid';
};

const decidedBy = ({ rule, limit, code, warnings }: JournalEntry): string =>
  rule ?? limit ?? code ?? (warnings.length > 0 ? counted(warnings.length, 'warning') : '');

/** Whether a request made a payout that its client has still not been told of. */
const isAtRisk = ({ committed, txn_id: txnId }: JournalEntry, { payouts }: LiveWorld): boolean =>
  committed === true && txnId !== null && payouts.get(txnId)?.at_risk === true;

const REQUESTS: ListKind<JournalEntry, RequestFilter> = {
  title: 'Requests',
  searched: 'reference, id, path, rule, code',
  none: NO_FILTER,
  wanted: wantedRequests,
  listed: ({ requests }, id) => requests.get(Number(id)),
  read: (live, id) => live.request(Number(id)),
  unknown: 'This world has no request',
  layout: table.requests,
  keyOf: ({ id }) => String(id),
  nameOf: ({ id, route, client_ref_id: ref }) => `request ${id}, ${route ?? 'another route'} ${ref ?? ''}`,
  isAtRisk,
  columns: [
    column(
      'Request',
      table.main,
      ({ route, request }) => route ?? request.path,
      (entry) => <Foreign text={askedText(entry)} />,
    ),
    column('Response', table.state, seenText, (entry) => <ResponseMark entry={entry} />),
    column('Money', table.knows, moneyWord, (entry, live) =>
      isAtRisk(entry, live) ? <span class="pill risk">paid</span> : moneyWord(entry),
    ),
    column('Reference', table.second, (entry) => entry.client_ref_id ?? entry.txn_id ?? ''),
    column('Decided by', table.extra, decidedBy),
    column('Time, IST', table.when, 'id', ({ at }) => <Moment at={at} isShort />),
  ],
};

/** The journal, live: requests, their responses, and what decided them. */
export function RequestsView() {
  const live = useLive();
  const [filter, setFilter] = useFilter('requests', NO_FILTER);
  const opened = address.value.request;
  const rows = live.requests.rows.value;
  const first = rows.at(-1)?.id ?? 1;
  void live.payouts.rows.value; // what is at risk may have changed
  return (
    <ListView
      kind={REQUESTS}
      rows={rows}
      missing={live.requests.isCut.value && first > 1 ? `, those from #${first} on` : ''}
      filter={filter}
      setFilter={setFilter}
      choices={
        <Choice
          label="What went wrong"
          value={filter.kind}
          options={Object.entries(REQUEST_KINDS).map(([kind, { name }]) => [kind, name])}
          onChoose={(kind) => setFilter({ ...filter, kind })}
        />
      }
      above={<HeldList />}
      empty={
        <p>
          <strong>No requests yet.</strong> The requests of your client with this key appear here, with the
          response, the rule that decided it, and whether money moved.
        </p>
      }
      noMatch="None of the loaded requests matches this search."
      opened={opened === null ? null : String(opened)}
      onOpen={(key) => openRequest(key === null ? null : Number(key))}
      panelTitle={({ id }) => `Request ${id}`}
      panel={(entry) => <RequestPanel entry={entry} />}
    />
  );
}
