import { expect, test } from 'vitest';
import { SANDBOX_HEADER } from '../../src/contract/words.ts';
import { live, useWorldPage } from '../support/browser.ts';
import { payMany } from '../support/many-payouts.ts';
import { sized } from '../support/size.ts';

const MANY = sized(350, 5000);

const formatted = (count: number): string => count.toLocaleString('en-IN');

const { newWorld } = useWorldPage();

test('the dashboard finds one of many payouts, and renders only the visible ones', async () => {
  const { payer, show } = await newWorld();
  await payMany(payer, MANY);
  const inAll = formatted(MANY);
  const seen = await show();
  const list = await seen.view('Payouts');
  await list.getByText(inAll, { exact: true }).waitFor();
  expect(await list.getByRole('row').count()).toBeLessThan(60);

  const one = `order-${MANY - 16}`;
  await list.getByRole('searchbox').fill(one);
  await list.getByText(`1 of ${inAll}`).waitFor();
  await list.getByRole('row').filter({ hasText: one }).waitFor();
  await list.getByRole('searchbox').fill('');
  await list.getByLabel('State').selectOption('SUCCESS');
  await list.getByText('Nothing matches.').waitFor();
  await list.getByRole('button', { name: 'Show all' }).click();
  await list.getByRole('button', { name: /^Open/ }).first().focus();
  await seen.page.keyboard.press('End');
  await list.locator(`[role=row][aria-rowindex="${MANY + 1}"] button:focus`).waitFor();
});

test('a list that is not all loaded says what its search and its order leave out', async () => {
  const { payer, show } = await newWorld();
  const [first, more] = [20, 10];
  await payMany(payer, first + more);
  const seen = await show();
  const headers = { [SANDBOX_HEADER]: '1', 'content-type': 'application/json' };
  const refused = { status: 400, headers, body: '{"message":"not now"}' };
  const lists = '**/transactions?*';
  await seen.page.route(lists, (route) => {
    const address = route.request().url();
    if (address.includes('cursor=')) return route.fulfill(refused);
    return route.continue({ url: address.replace(/limit=\d+/, `limit=${first}`) }); // as if a page had so few
  });
  await seen.page.reload();
  await live(seen);
  const list = await seen.view('Payouts');
  await list.getByText(`${first}, ${more} older not loaded`).waitFor();
  await list.getByRole('searchbox').fill('order-0');
  await list.getByText('Older ones that are not loaded were not searched').waitFor();
  const { txn_id: old } = await payer.world.payout('order-0');
  await seen.page.evaluate(`location.hash = '#payouts?payout=${old}&payouts.text=order-0'`);
  const panel = seen.page.getByRole('region', { name: 'order-0' });
  await panel.waitFor();
  await payer.world.transition(old, 'FAILED'); // an open payout is kept up to date although the list does not have it
  await panel.getByText('FAILED by a forced transition').waitFor();
  await seen.controls.getByRole('button', { name: '1 out of date' }).click(); // and is listed
  await list.getByText('1', { exact: true }).waitFor();
  expect(await list.getByRole('button', { name: /^Open/ }).allTextContents()).toEqual(['order-0']);
});
