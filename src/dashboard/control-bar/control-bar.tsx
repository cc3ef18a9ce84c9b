import { useState } from 'preact/hooks';
import type { RouteName } from '../../contract/match.ts';
import { isBreak } from '../conduct/scorecard.ts';
import { hide, overlay, show } from '../shell/overlay.ts';
import { useLive } from '../store/current-world.ts';
import { Button, submits } from '../ui/button.tsx';
import { Choice, named } from '../ui/choice.tsx';
import { grouped } from '../../contract/words.ts';
import { ClockControls } from './clock-controls.tsx';
import {
  FAILURES,
  leftOf,
  magicBeneficiaries,
  orderText,
  ruleOf,
  TIMES,
  type Times,
} from './failure-kinds.ts';
import { backToNormal, orderRule, removeRule } from './rule-orders.ts';
import css from './control-bar.module.css';

const ROUTES = ['initiate', 'status', 'balance'] as const satisfies readonly RouteName[];
const MAGIC = 'magic:';

/** Adds a failure as a sentence: The [next] [initiate] [gets a 500 after the payout]. */
function FailureSentence() {
  const live = useLive();
  const [times, setTimes] = useState<Times>('next');
  const [route, setRoute] = useState<RouteName>('initiate');
  const [chosen, setChosen] = useState(FAILURES[0]!.name);
  const failures = FAILURES.filter(({ routes }) => routes.includes(route));
  const magic = route === 'initiate' ? magicBeneficiaries(live.scenario.value) : [];
  const options = [
    ...failures.map(({ name, text }) => [name, text] as const),
    ...magic.map(({ name, description }) => [MAGIC + name, `behaves like: ${description}`] as const),
  ];
  const [value, what] = options.find(([name]) => name === chosen) ?? options[0]!;
  const order = (): void => {
    const text = `${times === 'every' ? 'every' : `the ${times}`} ${route} ${what}`;
    const failure = failures.find(({ name }) => name === value);
    const rule =
      failure === undefined
        ? magic.find(({ name }) => MAGIC + name === value)!.forEveryPayout
        : ruleOf(failure, route, times);
    const count = TIMES[times];
    orderRule(live, count === null ? rule : { ...rule, times: count }, text);
  };
  return (
    <form class={css.sentence} aria-label="Add a failure" onSubmit={submits(order)}>
      <span>The</span>
      <Choice
        label="How many"
        value={times}
        options={named(Object.keys(TIMES) as Times[])}
        onChoose={setTimes}
      />
      <Choice label="Request" value={route} options={named(ROUTES)} onChoose={setRoute} />
      <Choice label="What happens" value={value} options={options} onChoose={setChosen} />
      <Button isSubmit>Add</Button>
    </form>
  );
}

/** What is ordered, in the order in which it is tried. */
function OrderQueue() {
  const live = useLive();
  const top = (live.scenario.value?.rules ?? []).filter(({ from }) => from === 'world');
  const breaks = top.filter(isBreak);
  if (top.length === 0) return null;
  return (
    <div class={css.queue} data-testid="ordered">
      <ul aria-label="Added failures">
        {breaks.length > 0 && (
          <li>
            <a href="#conduct">Break my client</a>
            <span class="dim">
              {grouped(breaks.filter((rule) => leftOf(rule) === 0).length)} of {grouped(breaks.length)} used
            </span>
          </li>
        )}
        {top
          .filter((rule) => !isBreak(rule))
          .map((rule) => (
            <li key={rule.id} data-used={leftOf(rule) === 0 ? '' : undefined}>
              <span title={rule.id}>{orderText(rule)}</span>{' '}
              <span class="dim">
                {leftOf(rule) === 0 ? 'used' : rule.taken > 0 ? `used ${grouped(rule.taken)}×` : 'waiting'}
              </span>
              <Button kind="small" label={`Remove ${rule.name}`} act={() => removeRule(live, rule.name)}>
                ×
              </Button>
            </li>
          ))}
      </ul>
      <Button kind="small" act={() => backToNormal(live)}>
        Back to normal
      </Button>
    </div>
  );
}

/** What one needs all the time: the clock, the next failure, and a payout. On a phone, most of it is folded away. */
export function ControlBar() {
  const [isMore, setMore] = useState(false);
  return (
    <div class={css.bar} data-more={isMore ? '' : undefined}>
      <ClockControls />
      <div class={css.orders}>
        <FailureSentence />
        <span class={css.fold}>
          <Button isLocal isExpanded={isMore} act={() => setMore(!isMore)}>
            {isMore ? 'Less' : 'More'}
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
      <OrderQueue />
    </div>
  );
}
