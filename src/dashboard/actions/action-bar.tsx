import { useState } from 'preact/hooks';
import type { RuleResponse } from '../../contract/control-responses.ts';
import type { RouteName } from '../../contract/match.ts';
import { grouped } from '../../contract/words.ts';
import { RequestLinks } from '../requests/request-links.tsx';
import { showView } from '../shell/navigation.ts';
import { hide, overlay, show } from '../shell/overlay.ts';
import { useLive } from '../store/current-world.ts';
import { Button, submits } from '../ui/button.tsx';
import { Choice } from '../ui/choice.tsx';
import { ClockControls } from './clock-controls.tsx';
import {
  FAILURES,
  FIRST_FAILURE,
  isBreak,
  isUsed,
  routeText,
  ruleOf,
  TIMES,
  timesOf,
  type Times,
} from './failure-kinds.ts';
import { backToNormal, orderRule, removeRule } from './rule-orders.ts';
import css from './actions.module.css';

const ROUTES = ['initiate', 'status', 'balance'] as const satisfies readonly RouteName[];
const capitalised = (text: string): string => text.replace(/^./, (first) => first.toUpperCase());

/** Adds a failure as a sentence: [The next] [initiate] [gets a 500 after the payout]. */
function FailureSentence() {
  const live = useLive();
  const [times, setTimes] = useState<Times>('next');
  const [route, setRoute] = useState<RouteName>('initiate');
  const [chosen, setChosen] = useState(FIRST_FAILURE.name);
  const failures = FAILURES[route];
  const failure = failures.find(({ name }) => name === chosen) ?? failures[0]!;
  return (
    <form
      class={css.sentence}
      aria-label="Add a failure"
      onSubmit={submits(() => orderRule(live, ruleOf(failure, route, times)))}
    >
      <Choice
        label="How many"
        value={times}
        options={Object.entries(TIMES).map(([name, text]) => [name as Times, capitalised(text)])}
        onChoose={setTimes}
      />
      <Choice
        label="Request"
        value={route}
        options={ROUTES.map((name) => [name, routeText(name, times)])}
        onChoose={setRoute}
      />
      <Choice
        label="What happens"
        value={failure.name}
        options={failures.map(({ name, text }) => [name, text])}
        onChoose={setChosen}
      />
      <Button isSubmit>Add</Button>
    </form>
  );
}

const MOST_LINKS = 3;

/** A failure that was added, and the requests that it was used for, as far as the page has them. */
function Ordered({ rule }: { readonly rule: RuleResponse }) {
  const live = useLive();
  const { id, name, description, taken } = rule;
  const times = timesOf(rule);
  const of = times === null || times === 1 ? '' : ` of ${grouped(times)}`;
  const used = times === 1 && taken === 1 ? 'used' : `used ${grouped(taken)}${of || '×'}`;
  const met = live.requests.rows.value.filter((row) => row.rule === id).slice(0, Math.min(taken, MOST_LINKS));
  return (
    <li class="pill" data-used={isUsed(rule) ? '' : undefined}>
      <span title={id}>{description === '' ? name : description}</span>{' '}
      <span class="dim">{taken === 0 ? 'waiting' : used}</span>
      <RequestLinks requests={met.map((row) => row.id).toReversed()} />
      <Button kind="small" label={`Remove ${name}`} act={() => removeRule(live, rule)}>
        ×
      </Button>
    </li>
  );
}

/** The scenario that was chosen, and what was added in the order in which it is tried. Their place is reserved, so that nothing moves. */
function OrderQueue({ overrides }: { readonly overrides: readonly RuleResponse[] }) {
  const live = useLive();
  const { name, chosen = false } = live.scenario.value ?? {};
  const breaks = overrides.filter(isBreak);
  if (overrides.length === 0 && !chosen)
    return (
      <p class={`note ${css.queue}`}>
        The failures that you add appear here, in the order in which they are used.
      </p>
    );
  return (
    <div class={css.queue} data-testid="ordered">
      {chosen && (
        <span class="number">
          <Button kind="link" isLocal act={() => showView('scenario')}>
            Scenario {name}
          </Button>
        </span>
      )}
      {overrides.length > 0 && (
        <ol aria-label="Added rules">
          {overrides.map((rule) =>
            !isBreak(rule) ? (
              <Ordered key={rule.id} rule={rule} />
            ) : rule === breaks[0] ? (
              <li key={rule.id} class="pill">
                <a href="#conduct">Break my client</a>
                <span class="dim">
                  {grouped(breaks.filter(isUsed).length)} of {grouped(breaks.length)} used
                </span>
              </li>
            ) : null,
          )}
        </ol>
      )}
      <Button kind="small" act={() => backToNormal(live)}>
        Back to normal
      </Button>
    </div>
  );
}

/** What one needs all the time: the clock, the next failure, and a payout. On a phone, most of it is folded away. */
export function ActionBar() {
  const { scenario } = useLive();
  const [isMore, setMore] = useState(false);
  const { rules = [], chosen = false } = scenario.value ?? {};
  const overrides = rules.filter(({ from }) => from === 'world');
  const changes = overrides.length + Number(chosen);
  return (
    <div class={css.bar} data-more={isMore ? '' : undefined}>
      <ClockControls />
      <div class={css.orders}>
        <FailureSentence />
        <span class={css.fold}>
          <Button isLocal isExpanded={isMore} act={() => setMore(!isMore)}>
            {isMore ? 'Less' : changes === 0 ? 'More' : `More (${changes})`}
          </Button>
        </span>
        <Button
          isLocal
          kind="primary"
          isExpanded={overlay.value === 'pay'}
          act={() => (overlay.value === 'pay' ? hide() : show('pay'))}
        >
          Pay
        </Button>
      </div>
      <OrderQueue overrides={overrides} />
    </div>
  );
}
