import { openRequest } from '../shell/navigation.ts';
import { Button } from '../ui/button.tsx';
import type { Found } from './client-findings.ts';
import css from './conduct.module.css';

/** Findings of the referee, with what to do instead and the requests that show them. */
export const FindingList = ({ found }: { readonly found: readonly Found[] }) => (
  <ul class={css.findings} aria-label="Findings">
    {found.map(({ id, finding: { severity, message, fix, requests } }) => (
      <li key={`${id} ${requests.join()} ${message}`} data-severity={severity}>
        <p>
          <span class={severity === 'notice' ? 'dim' : 'pill'}>{severity}</span> <strong>{id}</strong>
        </p>
        <p>{message}</p>
        <p class="note">Fix: {fix}</p>
        <p class={css.requests}>
          {requests.map((request) => (
            <Button
              key={request}
              kind="small"
              isLocal
              label={`Request #${request}`}
              act={() => openRequest(request)}
            >
              #{request}
            </Button>
          ))}
        </p>
      </li>
    ))}
  </ul>
);
