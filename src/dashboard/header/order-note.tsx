import { useAction } from '../live/action.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { failureText, orderedFailure } from './ordered-failure.ts';

/** A note that a failure is ordered for every payout, with a button that ends it. */
export function OrderNote({ live }: { readonly live: LiveWorld }) {
  const { isBusy, refusal, run } = useAction();
  const scenario = live.scenario.value;
  const failure = scenario === null ? null : orderedFailure(scenario.rules);
  if (scenario === null || failure === null) return null;
  const { id, name, from } = failure.rule;
  const isOwn = from === 'world';
  const end = (): void =>
    run(async () => {
      if (isOwn) await live.world.removeRule(name);
      else await live.world.use(null);
      live.takeScenario(await live.world.scenario());
      live.news.say(`${name} is off`);
    });
  return (
    <div class="order-note" role="status" data-testid="ordered">
      <span>
        <strong>{failureText(failure)}.</strong> Ordered by <code>{id}</code>
      </span>
      {isOwn || scenario.chosen ? (
        <button type="button" class="button small" disabled={isBusy} onClick={end}>
          {isOwn ? 'End it' : 'Use the scenario of the server'}
        </button>
      ) : (
        <a href="#scenario">Choose another scenario</a>
      )}
      {refusal !== null && <span role="alert">{refusal}</span>}
    </div>
  );
}
