import { useEffect, useState } from 'preact/hooks';
import type { HeldRequest } from '../../client/orders.ts';
import { useAction } from '../live/action.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { Together } from '../live/together.ts';

const READ_EVERY_MS = 300;

/** The requests that rules hold, each with a button that releases it. Empty while there is none. */
export function HeldList({ live }: { readonly live: LiveWorld }) {
  const [held, setHeld] = useState<readonly HeldRequest[]>([]);
  const { isBusy, refusal, run } = useAction();
  const [reading] = useState(
    () =>
      new Together(async () => {
        // a page that is cut off says so elsewhere, and reads again with the next request
        setHeld(await live.world.held().catch(() => []));
      }, READ_EVERY_MS),
  );
  const version = live.requestsVersion.value; // a held request is an event when its wait begins and when it ends
  useEffect(() => reading.order(), [version]);
  useEffect(() => () => reading.close(), []);
  const release = (request: HeldRequest) => (): void =>
    run(async () => {
      await request.release();
      live.news.say('The request is released');
      reading.order();
    });
  if (held.length === 0) return null;
  return (
    <>
      <h3>Held until they are released</h3>
      <ul class="rules" aria-label="Held requests">
        {held.map((request) => (
          <li key={request.id} class="rule">
            <span>
              {request.route} <code>{request.client_ref_id ?? request.txn_id ?? ''}</code>
              <span class="note">{request.rule}</span>
            </span>
            <span class="note">
              {request.at === 'arrived' ? 'nothing has happened yet' : 'only the answer waits'}
            </span>
            <button type="button" class="button small" disabled={isBusy} onClick={release(request)}>
              Release
            </button>
          </li>
        ))}
      </ul>
      {refusal !== null && (
        <p class="refusal" role="alert">
          {refusal}
        </p>
      )}
    </>
  );
}
