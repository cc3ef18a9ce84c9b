import { useState } from 'preact/hooks';
import type { HeldRequest, ReleaseOrder } from '../../client/orders.ts';
import { useAction } from '../live/action.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { istTime } from '../lists/formats.ts';
import { useTogether } from '../live/together.ts';
import { Refusal } from '../detail/refusal.tsx';

const READ_EVERY_MS = 300;

/** What the client of a released request can see. */
const ANSWERS: readonly (readonly [string, ReleaseOrder | undefined])[] = [
  ['the answer that its rule orders', undefined],
  ['500', { respond: { status: 500 } }],
  ['503', { respond: { status: 503 } }],
  ['a connection reset', { fault: 'connection-reset' }],
  ['an empty response', { fault: 'empty-response' }],
  ['a body that is cut off', { fault: 'truncated-body' }],
];

/** The requests that rules hold, each with a button that releases it. Renders nothing while there are none. */
export function HeldList({ live }: { readonly live: LiveWorld }) {
  const [held, setHeld] = useState<readonly HeldRequest[]>([]);
  const [nth, setNth] = useState(0);
  const { isBusy, refusal, run } = useAction();
  const read = async (): Promise<void> => setHeld((await live.feed.answerTo(live.world.held())) ?? []);
  // a held request sends events when its wait begins and when it ends
  const reading = useTogether(read, READ_EVERY_MS, [live.requestsVersion.value, live.feed.connection.value]);
  const release = (request: HeldRequest) => (): void =>
    run(async () => {
      await request.release(ANSWERS[nth]![1]);
      live.news.say('The request was released');
      reading.order();
    });
  if (held.length === 0) return null;
  return (
    <>
      <h3>Held until they are released</h3>
      <label class="field inline">
        <span>Release with</span>
        <select value={nth} onChange={(event) => setNth(Number(event.currentTarget.value))}>
          {ANSWERS.map(([label], index) => (
            <option key={label} value={index}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <ul class="rules" aria-label="Held requests">
        {held.map((request) => (
          <li key={request.id} class="rule">
            <span>
              {request.route} <code>{request.client_ref_id ?? request.txn_id ?? ''}</code>
              <span class="note">{request.rule}</span>
            </span>
            <span class="note">
              {request.at === 'arrived' ? 'nothing has happened yet' : 'only the answer waits'}, expires at{' '}
              {istTime(request.until)}
            </span>
            <button type="button" class="button small" disabled={isBusy} onClick={release(request)}>
              Release
            </button>
          </li>
        ))}
      </ul>
      <Refusal text={refusal} />
    </>
  );
}
