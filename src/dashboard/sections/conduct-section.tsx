import { useEffect, useState } from 'preact/hooks';
import type { Finding, WorldReport } from '../../contract/conduct.ts';
import { plural } from '../lists/formats.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { Together } from '../live/together.ts';

/** How often the world is judged while requests come: that takes the server longer than most calls. */
const JUDGE_EVERY_MS = 2000;
const MOST_SHOWN = 20;

const BADGES = { error: 'state-failed', warning: 'state-pending', notice: '' } as const;

interface ItemProps {
  readonly id: string;
  readonly finding: Finding;
  readonly onOpenRequest: (id: number) => void;
}

const Item = ({ id, finding: { severity, message, instead, requests }, onOpenRequest }: ItemProps) => (
  <li>
    <span class={`badge ${BADGES[severity]}`}>{severity}</span> <strong>{id}</strong> {message}
    <p class="note">
      {requests.map((request) => (
        <button key={request} type="button" class="link" onClick={() => onOpenRequest(request)}>
          #{request}
        </button>
      ))}{' '}
      Instead: {instead}
    </p>
  </li>
);

interface Props {
  readonly live: LiveWorld;
  readonly onOpenRequest: (id: number) => void;
}

/** What the referee finds in the requests of this world, as they come. */
export function ConductSection({ live, onOpenRequest }: Props) {
  const [report, setReport] = useState<WorldReport | null>(null);
  const [judging] = useState(
    () =>
      new Together(async () => {
        // a page that is cut off says so elsewhere, and judges again with the next request
        setReport(await live.world.referee().catch(() => null));
      }, JUDGE_EVERY_MS),
  );
  const version = live.requestsVersion.value;
  useEffect(() => judging.order(), [version]);
  useEffect(() => () => judging.close(), []);

  const found =
    report?.checks.flatMap(({ id, findings }) => findings.map((finding) => ({ id, finding }))) ?? [];
  const counts = report?.counts;
  return (
    <section id="conduct" class="card" aria-labelledby="conduct-title">
      <header class="card-head">
        <h2 id="conduct-title">Conduct</h2>
        <p class="note" role="status">
          {counts === undefined
            ? ''
            : found.length === 0
              ? 'no findings'
              : `${plural(counts.error, 'error')}, ${plural(counts.warning, 'warning')}, ${plural(counts.notice, 'notice')}`}
        </p>
      </header>
      {found.length === 0 ? (
        <p class="teach">What your client does wrong with the money appears here, with what to do instead.</p>
      ) : (
        <ul class="findings" aria-label="Findings">
          {found.slice(0, MOST_SHOWN).map(({ id, finding }, index) => (
            <Item key={index} id={id} finding={finding} onOpenRequest={onOpenRequest} />
          ))}
        </ul>
      )}
    </section>
  );
}
