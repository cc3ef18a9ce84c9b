import { HeldList } from './held-list.tsx';
import { useMemo } from 'preact/hooks';
import type { JournalEntry } from '../../contract/control-answers.ts';
import { AnswerBadge, PaidBadge } from '../detail/badges.tsx';
import { DetailPane } from '../detail/detail-pane.tsx';
import { Moment } from '../detail/moment.tsx';
import { counted, countedOf, plural } from '../lists/formats.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { useFilter } from '../live/navigation.ts';
import { RequestDetail } from '../detail/request-detail.tsx';
import { isPaidUnseen, REQUEST_KINDS, wantedRequests, type RequestKind } from '../lists/request-filter.ts';
import { VirtualTable } from '../lists/virtual-table.tsx';

const moneyWord = ({ committed, replayed }: JournalEntry): string => {
  if (replayed) return 'replayed';
  return committed === null ? '' : committed ? 'paid' : 'not paid';
};

const COLUMNS = [
  {
    name: 'Request',
    className: 'main',
    cell: ({ id, route, request }: JournalEntry) => `#${id} ${route ?? `${request.method} ${request.path}`}`,
  },
  {
    name: 'Reference',
    className: 'second',
    cell: ({ client_ref_id: ref, txn_id: txnId }: JournalEntry) => ref ?? txnId ?? '',
  },
  {
    name: 'Decided by',
    className: 'rule',
    cell: ({ rule, limit, warnings }: JournalEntry) =>
      rule ?? limit ?? (warnings.length > 0 ? plural(warnings.length, 'warning') : ''),
  },
  {
    name: 'Money',
    className: 'money',
    cell: (entry: JournalEntry) => (isPaidUnseen(entry) ? <PaidBadge /> : moneyWord(entry)),
  },
  { name: 'Answer', className: 'state', cell: (entry: JournalEntry) => <AnswerBadge entry={entry} /> },
  {
    name: 'Time, IST',
    className: 'when number',
    cell: ({ at }: JournalEntry) => <Moment at={at} isShort />,
  },
];

interface Props {
  readonly live: LiveWorld;
  readonly opened: number | null;
  readonly onOpen: (id: number | null) => void;
  readonly onOpenPayout: (txnId: string) => void;
}

/** The journal, live: requests, their answers, and what decided them. */
export function RequestsSection({ live, opened, onOpen, onOpenPayout }: Props) {
  const [{ kind: wanted, text }, setFilter] = useFilter('requests', { kind: 'all', text: '' });
  const kind = Object.hasOwn(REQUEST_KINDS, wanted) ? (wanted as RequestKind) : 'all';
  const version = live.requestsVersion.value;
  const { rows, evicted } = live.requests;
  const shown = useMemo(() => wantedRequests(rows, kind, text), [rows, kind, text, version]);
  const hanging = rows.filter(({ outcome }) => outcome === 'pending').length;
  const entry = opened === null ? undefined : live.requests.get(opened);

  return (
    <section id="requests" class="card lists" aria-labelledby="requests-title">
      <header class="card-head">
        <h2 id="requests-title">Requests</h2>
        <p class="note" role="status">
          {countedOf(shown.length, rows.length)}
          {evicted > 0 && `, ${counted(evicted)} older entries dropped`}
        </p>
        {hanging > 0 && (
          <button
            type="button"
            class="badge state-pending"
            onClick={() => setFilter({ kind: 'hanging', text })}
          >
            {counted(hanging)} hanging
          </button>
        )}
      </header>
      <HeldList live={live} />
      <div class="filters" role="search" aria-label="Requests">
        <input
          type="search"
          aria-label="Search reference, id, path, rule or code"
          placeholder="Search reference, id, path, rule, code"
          value={text}
          onInput={(event) => setFilter({ kind, text: event.currentTarget.value })}
        />
        <select
          class="wide"
          aria-label="What went wrong"
          value={kind}
          onChange={(event) => setFilter({ kind: event.currentTarget.value, text })}
        >
          {Object.entries(REQUEST_KINDS).map(([name, { name: label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {shown.length === 0 ? (
        <div class="nothing">
          {rows.length > 0 ? (
            <>
              <p>
                <strong>No request matches.</strong> None of those that are loaded fits this search.
              </p>
              <button type="button" class="button" onClick={() => setFilter({ kind: 'all', text: '' })}>
                Show all
              </button>
            </>
          ) : (
            <p>
              <strong>No requests yet.</strong> The requests of your client with this key appear here, with
              the answer, the rule that decided it, and whether money moved.
            </p>
          )}
        </div>
      ) : (
        <div class={entry === undefined ? 'split' : 'split open'}>
          <VirtualTable
            label="Requests, newest first"
            rows={shown}
            columns={COLUMNS}
            isAtRisk={isPaidUnseen}
            keyOf={({ id }) => String(id)}
            nameOf={({ id, route, client_ref_id: ref }) =>
              `request ${id}, ${route ?? 'another route'} ${ref ?? ''}`
            }
            opened={opened === null ? null : String(opened)}
            onOpen={(key) => onOpen(Number(key))}
          />
          {entry !== undefined && (
            <DetailPane title={`Request ${entry.id}`} onClose={() => onOpen(null)}>
              <RequestDetail live={live} entry={entry} onOpenPayout={onOpenPayout} />
            </DetailPane>
          )}
        </div>
      )}
    </section>
  );
}
