import { expect, test } from 'vitest';
import { useWorldPage } from '../support/browser.ts';
import { payMany } from '../support/many-payouts.ts';

const { newWorld } = useWorldPage();

test('the dashboard asks again for all that a lost connection left unanswered', async () => {
  const { payer, show } = await newWorld({ settlement: 'manual' });
  const { world } = payer;
  await payMany(payer, 60); // more than the page reads with every change
  const { page, view } = await show();
  const lose = (path: string) =>
    page.route(`**/_sandbox/${path}`, (route) => route.abort('connectionreset'), { times: 1 });

  await lose('scenario');
  await world.use('server-error');
  const scenario = await view('Scenario');
  await scenario.getByText('server-error/').first().waitFor();
  await world.use(null);

  await lose('referee');
  await payer.pay({ client_ref_id: 'order-60', amount: 10.005 });
  await (await view('Conduct')).getByText('amount-not-paise').waitFor();

  const payouts = await view('Payouts');
  await payouts.getByRole('searchbox').fill('order-0');
  await lose('wallet/entries?txn_id=*');
  await lose('requests?txn_id=*');
  await payouts.getByRole('button', { name: 'Open order-0' }).click();
  const detail = page.getByRole('region', { name: 'order-0' });
  await detail.getByText('PENDING, −₹1.00').waitFor();
  await detail.getByRole('button', { name: '#1 initiate' }).waitFor();

  await world.transition((await world.payout('order-0')).txn_id, 'FAILED');
  await detail.getByText('FAILED by a forced transition').waitFor();

  await lose('held');
  await world.rule({ name: 'held', match: { route: 'initiate' }, effect: { hold: 'arrived' } });
  const paying = payer.pay({ client_ref_id: 'order-61' });
  const requests = await view('Requests');
  await requests.getByRole('list', { name: 'Held requests' }).getByText('order-61').waitFor();
  for (const held of await world.held()) await held.release();
  expect((await paying).status).toBe(200);
});
