import { RequestLinks } from '../requests/request-links.tsx';
import { counted } from '../../contract/words.ts';
import type { Found } from './client-findings.ts';
import css from './conduct.module.css';

const FEW_CHECKS = 3;

/** Why checks are inconclusive: the absence of their findings proves nothing. */
export const InconclusiveList = ({ all }: { readonly all: ReadonlyMap<string, readonly string[]> }) => (
  <ul class="stack note" aria-label="Inconclusive checks">
    {[...all].map(([reason, ids]) => (
      <li key={reason} title={ids.join(', ')}>
        {ids.length > FEW_CHECKS ? counted(ids.length, 'check') : ids.join(', ')} inconclusive: {reason}
      </li>
    ))}
  </ul>
);

/** Findings of the referee, with how to fix them and the requests that show them. */
export const FindingList = ({ found }: { readonly found: readonly Found[] }) => (
  <ul class={css.findings} aria-label="Findings">
    {found.map(({ id, finding: { severity, message, fix, requests } }) => (
      <li key={`${id} ${requests.join()} ${message}`} data-severity={severity}>
        <p>
          <span class={severity === 'notice' ? 'dim' : 'pill'}>{severity}</span> <strong>{id}</strong>
        </p>
        <p>{message}</p>
        <p class="note">Fix: {fix}</p>
        <RequestLinks requests={requests} />
      </li>
    ))}
  </ul>
);
