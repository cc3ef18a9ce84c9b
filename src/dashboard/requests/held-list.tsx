import { useState } from 'preact/hooks';
import type { HeldRequest, ReleaseOrder } from '../../client/controlled-world.ts';
import { useAction, useLive } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { Choice, named } from '../ui/choice.tsx';
import { istTime } from '../ui/formats.ts';
import { Foreign, Refusal } from '../ui/marks.tsx';
import css from './held.module.css';

/** What the client of a released request can see. */
const RESPONSES = {
  'the response that its rule specifies': undefined,
  '500': { respond: { status: 500 } },
  '503': { respond: { status: 503 } },
  'a connection reset': { fault: 'connection-reset' },
  'an empty response': { fault: 'empty-response' },
  'a body that is cut off': { fault: 'truncated-body' },
} as const satisfies Record<string, ReleaseOrder | undefined>;
type Response = keyof typeof RESPONSES;

/** The requests that rules hold, each with a button that releases it. Renders nothing while there are none. */
export function HeldList() {
  const live = useLive();
  const held = live.held.value;
  const [chosen, setChosen] = useState<Response>('the response that its rule specifies');
  const { isBusy, refusal, run } = useAction();
  const release = (request: HeldRequest) => (): void =>
    run(async () => {
      await request.release(RESPONSES[chosen]);
      return `${request.route} ${request.client_ref_id ?? ''} is released.`;
    });
  if (held.length === 0) return null;
  return (
    <div class={css.held}>
      <label class="field inline">
        <span>Held. Release with</span>
        <Choice value={chosen} options={named(Object.keys(RESPONSES) as Response[])} onChoose={setChosen} />
      </label>
      <ul class="rows" aria-label="Held requests">
        {held.map((request) => (
          <li key={request.id}>
            <span>
              <span>
                {request.route} <Foreign text={request.client_ref_id ?? request.txn_id ?? ''} />{' '}
                <span class="dim">{request.rule}</span>
              </span>
              <span class="note">
                {request.at === 'arrived' ? 'nothing has happened yet' : 'only the response waits'}, expires
                at {istTime(request.until)} in real time
              </span>
            </span>
            <Button kind="small" isBusy={isBusy} act={release(request)}>
              Release
            </Button>
          </li>
        ))}
      </ul>
      <Refusal text={refusal} />
    </div>
  );
}
