import { useState } from 'preact/hooks';
import type { Finding, WorldReport } from '../../contract/conduct.ts';
import { plural } from '../lists/formats.ts';

/** This many errors and warnings are shown at first; a button shows everything. */
const FIRST_SHOWN = 2;

/** The severities, the most severe first, and how they look. */
const BADGES = { error: 'state-failed', warning: 'state-pending', notice: '' } as const;
const SEVERITIES = Object.keys(BADGES);

interface Found {
  readonly id: string;
  readonly finding: Finding;
}

/** All findings of a report, the most severe first. */
const foundIn = (report: WorldReport | null): readonly Found[] =>
  (report?.checks ?? [])
    .flatMap(({ id, findings }) => findings.map((finding) => ({ id, finding })))
    .toSorted((a, b) => SEVERITIES.indexOf(a.finding.severity) - SEVERITIES.indexOf(b.finding.severity));

const countsText = ({ counts }: WorldReport): string =>
  SEVERITIES.flatMap((severity) => {
    const count = counts[severity as keyof typeof BADGES];
    return count === 0 ? [] : [plural(count, severity)];
  }).join(', ') || 'no findings';

interface ItemProps extends Found {
  readonly onOpenRequest: (id: number) => void;
}

const Item = ({ id, finding, onOpenRequest }: ItemProps) => {
  const { severity, message, instead, requests } = finding;
  return (
    <li class={`finding of-${severity}`}>
      <p>
        <span class={`badge ${BADGES[severity]}`}>{severity}</span> <strong>{id}</strong>
      </p>
      <p>{message}</p>
      <p class="note">Instead: {instead}</p>
      <p class="requests">
        {requests.map((request) => (
          <button
            key={request}
            type="button"
            class="button small"
            aria-label={`Request #${request}`}
            onClick={() => onOpenRequest(request)}
          >
            #{request}
          </button>
        ))}
      </p>
    </li>
  );
};

interface Props {
  readonly report: WorldReport | null;
  readonly onOpenRequest: (id: number) => void;
}

/** What the referee finds in the requests of this world, as they come. */
export function ConductSection({ report, onOpenRequest }: Props) {
  const [isAll, setAll] = useState(false);
  const found = foundIn(report);
  const grave = found.filter(({ finding: { severity } }) => severity !== 'notice');
  const shown = isAll ? found : grave.slice(0, FIRST_SHOWN);
  return (
    <section id="conduct" class="card" aria-labelledby="conduct-title">
      <header class="card-head">
        <h2 id="conduct-title">Conduct</h2>
        <p class="note" role="status">
          {report === null ? '' : countsText(report)}
        </p>
        {(isAll || found.length > shown.length) && (
          <button type="button" class="button small" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
            {isAll ? 'Show fewer' : `Show ${plural(found.length, 'finding')}`}
          </button>
        )}
      </header>
      {found.length === 0 && (
        <p class="note">What your client does wrong with the money appears here, with what to do instead.</p>
      )}
      {shown.length > 0 && (
        <ul class="findings" aria-label="Findings">
          {shown.map(({ id, finding }) => (
            <Item
              key={`${id} ${finding.requests.join()}`}
              id={id}
              finding={finding}
              onOpenRequest={onOpenRequest}
            />
          ))}
        </ul>
      )}
    </section>
  );
}
