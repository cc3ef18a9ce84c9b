import { useState } from 'preact/hooks';
import { hide, overlay, show } from '../shell/overlay.ts';
import { Button } from '../ui/button.tsx';
import { ClockControls } from './clock-controls.tsx';
import { FailureSentence, OrderQueue } from './failure-sentence.tsx';
import css from './control-bar.module.css';

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
