import { PayoutCurl } from '../actions/payout-curl.tsx';
import { FIRST_FAILURE, ruleOf } from '../actions/failure-kinds.ts';
import type { PayoutInput } from '../../client/controlled-world.ts';
import { useAction, useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { Button } from '../ui/button.tsx';
import { Refusal } from '../ui/marks.tsx';

const REVERSED_LATER = '9999200004';
const FAILS = '9999200001';

/** Pays as a careless client does on a bad day: three responses are lost, and one payout is made again with a new reference. */
async function showBadDay({ world }: LiveWorld): Promise<string> {
  const pay = (nth: number, change: PayoutInput = {}): Promise<unknown> =>
    world.pay({
      client_ref_id: `salary-${nth}`,
      beneficiary_account: `00012345678${nth}`,
      beneficiary_name: `Employee ${nth}`,
      amount: 4000 + nth * 500,
      ...change,
    });
  for (const nth of [1, 2, 3]) await pay(nth);
  await world.rule({ ...ruleOf(FIRST_FAILURE, 'initiate', 'next 3'), name: 'bad-day' });
  for (const nth of [4, 5, 6]) await pay(nth);
  await pay(4, { client_ref_id: 'salary-4-again' });
  await pay(7, { beneficiary_account: REVERSED_LATER });
  await pay(8, { beneficiary_account: FAILS });
  await world.removeRule('bad-day');
  return 'A bad day: three payouts are at risk, and one of them was paid again.';
}

/** How to begin with a world that has no payouts. */
export function FirstSteps() {
  const live = useLive();
  const { isBusy, refusal, run } = useAction();
  return (
    <div class="block">
      <h3>First steps</h3>
      <p>
        Point your client at <code>{live.world.url}</code> with this key, press <kbd>p</kbd>, or paste this
        into a terminal. The payout appears here at once.
      </p>
      <PayoutCurl />
      <div class="buttons">
        <Button kind="small" isBusy={isBusy} act={() => run(() => showBadDay(live), ['scenario'])}>
          Show me a bad day
        </Button>
      </div>
      <Refusal text={refusal} />
    </div>
  );
}
