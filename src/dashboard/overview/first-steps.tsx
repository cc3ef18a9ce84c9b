import { PayoutCurl } from '../control-bar/payout-curl.tsx';
import { isFromPage } from '../control-bar/sending.ts';
import { FAILURES, ruleOf } from '../control-bar/failure-kinds.ts';
import { useAction, useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { Button } from '../ui/button.tsx';
import { Refusal } from '../ui/marks.tsx';
import { wentWrong } from '../ui/request-words.ts';
import css from './overview.module.css';

const REVERSED_LATER = '9999200004';
const FAILS = '9999200001';

/** Pays as a careless client does on a bad day: three responses are lost, and one payout is made again with a new reference. */
async function showBadDay({ world }: LiveWorld): Promise<string> {
  const pay = (nth: number, account = `00012345678${nth}`): Promise<unknown> =>
    world.pay({
      client_ref_id: `salary-${nth}`,
      beneficiary_account: account,
      beneficiary_name: `Employee ${nth}`,
      amount: 4000 + nth * 500,
    });
  for (const nth of [1, 2, 3]) await pay(nth);
  await world.rule({ ...ruleOf(FAILURES[0]!, 'initiate', 'next 3'), name: 'bad-day' });
  for (const nth of [4, 5, 6]) await pay(nth);
  await world.pay({
    client_ref_id: 'salary-4-again',
    beneficiary_account: '000123456784',
    beneficiary_name: 'Employee 4',
    amount: 6000,
  });
  await pay(7, REVERSED_LATER);
  await pay(8, FAILS);
  await world.removeRule('bad-day');
  return 'A bad day: three payouts are at risk, and one of them was paid again.';
}

/** The first three steps with a new world. Each is ticked off by what happens. */
export function FirstSteps() {
  const live = useLive();
  const { isBusy, refusal, run } = useAction();
  const rows = live.requests.rows.value;
  const payouts = live.payouts.rows.value;
  const lost = rows.find((row) => row.committed === true && row.txn_id !== null && wentWrong(row));
  const isSurvived = lost !== undefined && (live.payouts.get(lost.txn_id!)?.told ?? null) !== null;
  const steps: readonly (readonly [string, boolean])[] = [
    ['Your client sends a request with this key', rows.some((row) => !isFromPage(row))],
    ['A payout is made', payouts.length > 0],
    ['A response is lost, and your client finds out what happened', isSurvived],
  ];
  return (
    <div class={css.first}>
      <h3>First steps</h3>
      <ol>
        {steps.map(([text, isDone]) => (
          <li key={text} data-done={isDone ? '' : undefined}>
            <span aria-hidden="true">{isDone ? '✓' : '○'}</span> {text}
            <span class="unseen">{isDone ? ', done' : ', to do'}</span>
          </li>
        ))}
      </ol>
      {payouts.length === 0 && (
        <>
          <PayoutCurl />
          <Button
            kind="small"
            isBusy={isBusy}
            act={() => run(() => showBadDay(live), { causes: ['scenario'] })}
          >
            Show me a bad day
          </Button>
        </>
      )}
      <Refusal text={refusal} />
    </div>
  );
}
