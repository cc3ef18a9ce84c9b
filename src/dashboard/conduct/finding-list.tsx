import { useState } from 'preact/hooks';
import { openRequest } from '../shell/navigation.ts';
import { useLive } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { counted, grouped } from '../../contract/words.ts';
import type { Found } from './client-findings.ts';
import css from './conduct.module.css';

const FIRST_SHOWN = 50;

/** A button for each request, which opens it. */
export const RequestButtons = ({ requests }: { readonly requests: readonly number[] }) => (
  <p class={css.requests}>
    {requests.map((id) => (
      <Button key={id} kind="link" isLocal label={`Request #${id}`} act={() => openRequest(id)}>
        #{id}
      </Button>
    ))}
  </p>
);

const FEW_CHECKS = 3;

/** Why checks are inconclusive: the absence of their findings proves nothing. */
export function InconclusiveList() {
  const { inconclusive } = useLive().findings.value;
  if (inconclusive.length === 0) return null;
  return (
    <ul class="stack note" aria-label="Inconclusive checks">
      {inconclusive.map(({ reason, ids }) => (
        <li key={reason} title={ids.join(', ')}>
          {ids.length > FEW_CHECKS ? counted(ids.length, 'check') : ids.join(', ')} inconclusive: {reason}
        </li>
      ))}
    </ul>
  );
}

/** Findings of the referee, with how to fix them and the requests that show them. */
export function FindingList({ found }: { readonly found: readonly Found[] }) {
  const [most, setMost] = useState(FIRST_SHOWN);
  return (
    <ul class={css.findings} aria-label="Findings">
      {found.slice(0, most).map(({ id, finding: { severity, message, fix, requests } }) => (
        <li key={`${id} ${requests.join()} ${message}`} data-severity={severity}>
          <p>
            <span class={severity === 'notice' ? 'dim' : 'pill'}>{severity}</span> <strong>{id}</strong>
          </p>
          <p>{message}</p>
          <p class="note">Fix: {fix}</p>
          <RequestButtons requests={requests} />
        </li>
      ))}
      {found.length > most && (
        <li>
          <Button isLocal act={() => setMost(Infinity)}>
            Show all {grouped(found.length)}
          </Button>
        </li>
      )}
    </ul>
  );
}
