import { useState } from 'preact/hooks';
import type { JournalEntry } from '../../contract/control-responses.ts';
import type { RouteName } from '../../contract/match.ts';
import { TestWorld } from '../../client/test-world.ts';
import { FAILURES, ruleOf, type Failure } from '../control-bar/failure-kinds.ts';
import { sendAgain } from '../control-bar/sending.ts';
import { chooseKey } from '../shell/session.ts';
import { useAction, useLive } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { Choice } from '../ui/choice.tsx';
import { rupees } from '../ui/formats.ts';
import { Fact, Refusal } from '../ui/marks.tsx';
import css from './held.module.css';

/** Longer than the usual delays, shorter than a hang. */
const PATIENCE_MS = 8000;
const LATER = '3d';

/** What became of a world after the request, three days later. */
type Future = Awaited<ReturnType<typeof futureOf>>;

/** Sends the request once more in a copy of the world as it was before, and looks three days ahead. */
async function futureOf(
  snapshot: string,
  url: string,
  apiKey: string,
  entry: JournalEntry,
  failure: Failure | null,
) {
  const world = new TestWorld(url, apiKey);
  await world.restore(snapshot);
  if (failure !== null) await world.rule(ruleOf(failure, entry.route!, 'next'));
  const seen = await sendAgain(entry, url, apiKey, AbortSignal.timeout(PATIENCE_MS)).then(
    ({ status }) => String(status),
    () => 'no response',
  );
  await world.clock.advance({ by: LATER });
  const payout =
    entry.client_ref_id === null ? [] : await world.transactions({ client_ref_id: entry.client_ref_id });
  const state = payout.map(
    ({ status, at_risk: isAtRisk }) => `${status}${isAtRisk ? ', but the client was not told' : ''}`,
  );
  return {
    title: failure === null ? 'Sent as it was' : `If it ${failure.text}`,
    apiKey,
    seen,
    state: state.join('; ') || 'no payout',
    world: await world.summary(),
  };
}

const FutureCard = ({ future: { title, apiKey, seen, state, world } }: { readonly future: Future }) => (
  <div class={css.future}>
    <h3>{title}</h3>
    <dl class="facts">
      <Fact name="Client sees">{seen}</Fact>
      <Fact name="Payout">{state}</Fact>
      <Fact name="Balance">{rupees(world.balance)}</Fact>
      <Fact name="At risk">
        {world.at_risk.count === 0 ? 'nothing' : `${world.at_risk.count} · ${rupees(world.at_risk.amount)}`}
      </Fact>
    </dl>
    <Button kind="small" isLocal act={() => chooseKey(apiKey)}>
      Open this world
    </Button>
  </div>
);

/** What would have followed if the request had met another failure: two copies of the world, side by side. */
export function WhatIf({ entry, route }: { readonly entry: JournalEntry; readonly route: RouteName }) {
  const { world } = useLive();
  const { isBusy, refusal, run } = useAction();
  const failures = FAILURES.filter(
    ({ routes, effect }) => routes.includes(route) && effect.hold === undefined,
  );
  const another = failures.find(
    ({ effect: { respond } }) => typeof respond === 'object' && respond.status !== entry.answer?.status,
  );
  const [chosen, setChosen] = useState(another!.name);
  const [futures, setFutures] = useState<readonly Future[]>([]);
  const compare = (): void =>
    run(async () => {
      setFutures([]);
      const { url, apiKey } = world;
      const snapshot = await world.before(entry.id);
      const failure = failures.find(({ name }) => name === chosen)!;
      setFutures(
        await Promise.all([
          futureOf(snapshot, url, `${apiKey}-as-it-was`, entry, null),
          futureOf(snapshot, url, `${apiKey}-what-if`, entry, failure),
        ]),
      );
    });
  return (
    <details class={css.whatIf}>
      <summary>What if</summary>
      <div class="row-form">
        <label class="field">
          <span>What if this {route} …</span>
          <Choice
            value={chosen}
            options={failures.map(({ name, text }) => [name, text])}
            onChoose={setChosen}
          />
        </label>
        <Button isBusy={isBusy} act={compare}>
          Compare
        </Button>
      </div>
      <p class="note">
        Two copies of this world, as it was before the request, get the request once more. This world does not
        change. You see both three days later.
      </p>
      <Refusal text={refusal} />
      <div class={css.futures} role="status" aria-label="Both futures">
        {futures.map((future) => (
          <FutureCard key={future.apiKey} future={future} />
        ))}
      </div>
    </details>
  );
}
