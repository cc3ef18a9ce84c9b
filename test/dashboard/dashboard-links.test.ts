import { expect, test } from 'vitest';
import type { TransactionResponse } from '../../src/contract/control-responses.ts';
import { holdBack, live, loaded, useWorldPage } from '../support/browser.ts';

const { newWorld, shownWorld } = useWorldPage();

test('the address names what is open and leads exactly there: by reload, back and forward, and pasted into an open tab', async () => {
  const { payer, show } = await newWorld();
  for (let nth = 1; nth <= 60; nth += 1) await payer.pay({ client_ref_id: `order-${nth}` });
  const { txn_id: first } = await payer.world.payout('order-1');
  const { txn_id: last } = await payer.world.payout('order-60');
  const { page, seen, view, said } = await show();
  const detail = (name: string) => page.getByRole('region', { name, exact: true });
  const inSight = async (region: string, row: string): Promise<void> => {
    await detail(region).waitFor();
    for (const shown of [detail(region), page.getByRole('button', { name: row, exact: true })]) {
      const { y, height } = (await shown.boundingBox())!;
      expect(y).toBeGreaterThan(0);
      expect(y + height).toBeLessThanOrEqual(900);
    }
  };
  const payouts = await view('Payouts');
  await payouts.getByRole('button', { name: 'Open order-60' }).click();
  await detail('order-60').waitFor();
  await payouts.getByLabel('State').selectOption('PENDING');
  await payouts.getByRole('button', { name: 'Open order-59' }).click();
  await detail('order-59').waitFor();
  const world = (await payer.world.summary()).id.slice(0, 8);
  await expect.poll(() => page.url()).toContain(`#payouts?world=${world}&payout=TXN`);
  await page.reload();
  await live(seen);
  await detail('order-59').waitFor();
  expect(await payouts.getByLabel('State').inputValue()).toBe('PENDING');
  await page.goBack();
  await detail('order-60').waitFor();
  await expect.poll(() => page.url()).toContain(last);
  await page.goForward();
  await detail('order-59').waitFor();
  await expect.poll(() => page.url()).not.toContain(payer.apiKey);

  const paste = (hash: string): Promise<void> => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await paste(`#payouts?world=${world}&payout=${first}`);
  await inSight('order-1', 'Open order-1'); // the last row of its list
  await page.reload();
  await inSight('order-1', 'Open order-1');
  await paste(`#requests?world=${world}&request=2`);
  await inSight('Request 2', 'Open request 2, initiate order-2');
  await page.goBack();
  await inSight('order-1', 'Open order-1');
  await expect.poll(() => page.url()).toContain(`#payouts?world=${world}&payout=${first}`); // and nothing has amended it
  await paste(`#payouts?world=${world}&payouts.state=DONE`); // no such state
  await page.getByText('Nothing matches.').waitFor();
  expect(await page.getByLabel('State').locator('option:checked').textContent()).toBe('DONE');

  await paste('#payouts?payout=TXN0');
  await said.getByText('This world has no payout TXN0.').waitFor();
  await paste('#requests?request=61');
  await said.getByText('This world has no request 61.').waitFor();
  await expect.poll(() => page.url()).not.toContain('request=61');
});

test('a link to a world asks for its key, which it does not contain, and shows what the link names', async () => {
  const { client, payer: mine, show } = await newWorld();
  const theirs = client();
  await theirs.pay({ client_ref_id: 'theirs' });
  const [{ txn_id: txnId }] = (await theirs.world.transactions()) as [TransactionResponse];
  const { id } = await theirs.world.summary();
  const { id: myId } = await mine.world.summary();
  const { page, seen } = await show();
  await expect.poll(() => page.url()).toContain(`world=${myId.slice(0, 8)}`); // the page knows its world
  const link = `#payouts?world=${id.slice(0, 8)}&payout=${txnId}`;
  const follow = (hash: string): Promise<void> => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);

  await follow(link);
  await page.getByLabel('API key').fill(mine.apiKey);
  await page.getByRole('button', { name: 'Show this world' }).click();
  await page
    .getByRole('alert')
    .getByText(`the link shows ${id.slice(0, 8)}`)
    .waitFor();
  await page.getByRole('button', { name: 'Back to my world' }).click();
  await live(seen);
  await expect.poll(() => page.url()).not.toContain(txnId);

  await follow(link);
  await page.getByLabel('API key').fill(theirs.apiKey);
  await page.getByRole('button', { name: 'Show this world' }).click();
  await page.getByRole('region', { name: 'theirs' }).waitFor();

  // now the browser has both keys, and neither link asks
  await follow(`#overview?world=${myId.slice(0, 8)}`);
  const key = page.getByTitle('Show another world').locator('code');
  await expect.poll(() => key.textContent()).toBe(mine.apiKey);
  await follow(link);
  await page.getByRole('region', { name: 'theirs' }).waitFor();
});

test('a key that is entered for a link opens no world that the user has left since', async () => {
  const { client, payer: mine, show } = await newWorld();
  const theirs = client();
  const [myId, id] = [(await mine.world.summary()).id, (await theirs.world.summary()).id];
  const { page, seen } = await show();
  await expect.poll(() => page.url()).toContain(`world=${myId.slice(0, 8)}`);
  await page.evaluate(`location.hash = '#overview?world=${id.slice(0, 8)}'`);
  await page.getByLabel('API key').fill(theirs.apiKey);
  const answer = await holdBack(seen, '**/_sandbox/world');
  await page.getByRole('button', { name: 'Show this world' }).click();
  await page.getByRole('button', { name: 'Back to my world' }).click();
  const theirKey = `Bearer ${theirs.apiKey}`;
  const answered = page.waitForResponse((it) => it.request().headers()['authorization'] === theirKey);
  answer();
  await answered; // its end is not always reported, since nobody reads the rest
  await page.evaluate(`fetch('./').then((later) => later.text())`); // so that the page has seen the response
  await loaded(seen);
  expect(await page.getByTitle('Show another world').locator('code').textContent()).toBe(mine.apiKey);
});

test('a link that is followed as the page writes a filter into its address is not lost', async () => {
  const { page, view } = await shownWorld();
  await view('Requests');
  // the link is followed when the write is due already, so that the write comes before the event of the link
  await page.evaluate(`{
      const filter = document.querySelector('[aria-label="What went wrong"]');
      filter.value = 'refused';
      filter.dispatchEvent(new Event('change', { bubbles: true }));
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { location.hash = 'key=sk_test_of_a_link'; };
      port2.postMessage(null);
      for (const from = performance.now(); performance.now() - from < 600; );
    }`);
  const key = page.getByTitle('Show another world').locator('code');
  await key.getByText('sk_test_of_a_link').waitFor();
  await expect.poll(() => page.url()).toContain('requests.');
  await expect.poll(() => page.url()).not.toContain('key=');
});

test('a link that is followed just before a click is not lost', async () => {
  const { payer, show } = await newWorld();
  await payer.pay({ client_ref_id: 'only' });
  const { page, view } = await show();
  await (await view('Payouts')).getByRole('button', { name: 'Open only' }).waitFor();
  await page.evaluate(`{
      location.hash = 'key=sk_test_of_a_link';
      document.querySelector('[aria-label="Open only"]').click(); // before the event of the link
    }`);
  await page.getByTitle('Show another world').getByText('sk_test_of_a_link').waitFor();
  await expect.poll(() => page.url()).not.toContain('key=');
});

test('the address no longer names a payout that a reset removed', async () => {
  const { page, payer, seen } = await shownWorld();
  const list = await holdBack(seen, '**/_sandbox/transactions?*');
  await payer.pay();
  const { txn_id: id } = await payer.world.payout('order-1');
  await page.evaluate(`location.hash = '#payouts?payout=${id}'`); // read by itself, before the list has it
  await page.getByRole('region', { name: 'order-1' }).waitFor();
  list();
  await page.getByRole('button', { name: 'Open order-1' }).waitFor();
  await payer.world.reset();
  await expect.poll(() => page.url()).not.toContain('payout=');
});
