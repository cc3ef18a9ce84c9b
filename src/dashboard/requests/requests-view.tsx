import { useEffect, useMemo, useState } from 'preact/hooks';
import type { JournalEntry } from '../../contract/control-responses.ts';
import { isFromPage } from '../control-bar/sending.ts';
import { address, openRequest, useFilter } from '../shell/navigation.ts';
import { useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { PaidMark, ResponseMark } from '../ui/badges.tsx';
import { Button } from '../ui/button.tsx';
import { Choice } from '../ui/choice.tsx';
import { counted, countedOf, plural } from '../ui/formats.ts';
import { Foreign, Moment } from '../ui/marks.tsx';
import { Panel } from '../ui/panel.tsx';
import table from '../ui/table.module.css';
import { VirtualTable } from '../ui/virtual-table.tsx';
import { HeldList } from './held-list.tsx';
import { REQUEST_KINDS, wantedRequests, type RequestKind } from './request-filter.ts';
import { RequestPanel } from './request-panel.tsx';

const KIND_OPTIONS = Object.entries(REQUEST_KINDS).map(
  ([kind, { name }]) => [kind as RequestKind, name] as const,
);

const moneyWord = ({ committed, replayed }: JournalEntry): string => {
  if (replayed) return 'replayed';
  return committed === null ? '' : committed ? 'paid' : 'not paid';
};

/** Whether a request made a payout that its client has still not been told of. */
const isAtRisk = ({ payouts }: LiveWorld, { committed, txn_id: txnId }: JournalEntry): boolean =>
  committed === true && txnId !== null && payouts.get(txnId)?.at_risk === true;

const columnsFor = (live: LiveWorld) => [
  {
    name: 'Request',
    className: table.main,
    cell: ({ id, route, request }: JournalEntry) => (
      <Foreign text={`#${id} ${route ?? `${request.method} ${request.path}`}`} />
    ),
  },
  {
    name: 'Response',
    className: table.state,
    cell: (entry: JournalEntry) => <ResponseMark entry={entry} />,
  },
  {
    name: 'Money',
    className: table.knows,
    cell: (entry: JournalEntry) => (isAtRisk(live, entry) ? <PaidMark /> : moneyWord(entry)),
  },
  {
    name: 'Reference',
    className: table.second,
    cell: ({ client_ref_id: ref, txn_id: txnId }: JournalEntry) => <Foreign text={ref ?? txnId ?? ''} />,
  },
  {
    name: 'Decided by',
    className: table.extra,
    cell: ({ rule, limit, warnings }: JournalEntry) =>
      rule ?? limit ?? (warnings.length > 0 ? plural(warnings.length, 'warning') : ''),
  },
  {
    name: 'From',
    className: table.extra,
    cell: (entry: JournalEntry) => (isFromPage(entry) ? 'this page' : ''),
  },
  { name: 'Time, IST', className: table.when, cell: ({ at }: JournalEntry) => <Moment at={at} isShort /> },
];

/** The open request; one that the list no longer has is asked for. */
function useOpened(live: LiveWorld, id: number | null): JournalEntry | undefined {
  const [old, setOld] = useState<JournalEntry | null>(null);
  const listed = live.requests.rows.value && id !== null ? live.requests.get(id) : undefined;
  const isOld = id !== null && listed === undefined && live.isLoaded.value;
  useEffect(() => {
    if (!isOld) return;
    const found = live.feed.answerTo(live.world.requests({ since: id - 1 }));
    void found.then((entries) => setOld(entries?.find((entry) => entry.id === id) ?? null));
  }, [live, id, isOld, live.readings.value]);
  return listed ?? (isOld && old?.id === id ? old : undefined);
}

/** The journal, live: requests, their responses, and what decided them. */
export function RequestsView() {
  const live = useLive();
  const [{ kind: wanted, text }, setFilter] = useFilter('requests', { kind: 'all', text: '' });
  const kind = Object.hasOwn(REQUEST_KINDS, wanted) ? (wanted as RequestKind) : 'all';
  const opened = address.value.request;
  const rows = live.requests.rows.value;
  const evicted = live.requests.evicted.value;
  const payouts = live.payouts.rows.value; // what is at risk may have changed
  const shown = useMemo(() => wantedRequests(rows, kind, text), [rows, kind, text]);
  const columns = useMemo(() => columnsFor(live), [live, payouts]);
  const hanging = rows.filter(({ outcome }) => outcome === 'pending').length;
  const entry = useOpened(live, opened);
  const isLoaded = live.isLoaded.value;

  return (
    <section class="view" aria-labelledby="requests-title">
      <header class="view-head">
        <h2 id="requests-title">Requests</h2>
        <p class="note" role="status">
          {isLoaded && countedOf(shown.length, rows.length)}
          {evicted > 0 && `, ${counted(evicted)} older entries dropped`}
        </p>
        {hanging > 0 && (
          <Button kind="small" isLocal act={() => setFilter({ kind: 'hanging', text })}>
            {counted(hanging)} hanging
          </Button>
        )}
        <div class="filters" role="search" aria-label="Requests">
          <input
            type="search"
            aria-label="Search reference, id, path, rule or code"
            placeholder="Search reference, id, path, rule, code  /"
            value={text}
            onInput={(event) => setFilter({ kind, text: event.currentTarget.value })}
          />
          <Choice
            label="What went wrong"
            value={kind}
            options={KIND_OPTIONS}
            onChoose={(wrong) => setFilter({ kind: wrong, text })}
          />
        </div>
      </header>
      <HeldList />
      <div class="split" data-open={entry === undefined ? undefined : ''}>
        {!isLoaded ? (
          <div class="loading" role="status">
            Loading
          </div>
        ) : rows.length === 0 ? (
          <div class="nothing">
            <p>
              <strong>No requests yet.</strong> The requests of your client with this key appear here, with
              the response, the rule that decided it, and whether money moved.
            </p>
          </div>
        ) : shown.length === 0 ? (
          <div class="nothing">
            <p>
              <strong>No request matches.</strong> None of those that are loaded fits this search.
            </p>
            <Button isLocal act={() => setFilter({ kind: 'all', text: '' })}>
              Show all
            </Button>
          </div>
        ) : (
          <VirtualTable
            label="Requests, newest first"
            layout={table.requests}
            rows={shown}
            columns={columns}
            isAtRisk={(row) => isAtRisk(live, row)}
            keyOf={({ id }) => String(id)}
            nameOf={({ id, route, client_ref_id: ref }) =>
              `request ${id}, ${route ?? 'another route'} ${ref ?? ''}`
            }
            opened={opened === null ? null : String(opened)}
            onOpen={(key) => openRequest(Number(key))}
          />
        )}
        {entry !== undefined && (
          <Panel title={`Request ${entry.id}`} onClose={() => openRequest(null)}>
            <RequestPanel entry={entry} />
          </Panel>
        )}
      </div>
    </section>
  );
}
