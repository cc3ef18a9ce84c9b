import type { InitiateRequest } from '../../contract/service.ts';
import { curlOf } from '../requests/curl.ts';
import { useLive } from '../store/current-world.ts';
import { CopyButton } from '../ui/button.tsx';
import { readable } from '../ui/formats.ts';
import { SAMPLE_PAYOUT } from './sending.ts';

export function PayoutCurl({ payout = SAMPLE_PAYOUT }: { readonly payout?: InitiateRequest }) {
  const { url, apiKey } = useLive().world;
  const curl = curlOf({
    method: 'POST',
    url: `${url}/payout/initiate`,
    apiKey,
    headers: { 'Content-Type': 'application/json' },
    body: readable(payout),
  });
  return (
    <>
      <pre tabIndex={0} aria-label="The payout as curl">
        {curl}
      </pre>
      <div>
        <CopyButton label="Copy" text={() => curl} />
      </div>
    </>
  );
}
