import type { Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { grouped, rupees, SANDBOX_HEADER } from '../../src/contract/words.ts';
import { FROZEN, live, loaded, LOST, REVERSED_LATER, useWorldPage } from '../support/browser.ts';
import { payMany } from '../support/many-payouts.ts';
import { sized } from '../support/size.ts';

const ADMIN = 'a-token-of-the-admin';

const { newWorld, shownWorld } = useWorldPage();

test('what is at risk does not depend on when the dashboard was opened, and ends when the client learns of it', async () => {
  const { payer, show } = await newWorld({ clock: FROZEN, journalEntries: 8 });
  for (const nth of [1, 2])
    await payer.pay({ client_ref_id: `lost-${nth}`, beneficiary_account: LOST, amount: 5000 });
  for (let nth = 0; nth < 10; nth += 1) await payer.balance(); // the page cannot know the requests that lost them
  const { page, controls, view, seen } = await show();
  const counter = (text: string) => controls.getByRole('button', { name: text });
  await counter('2 at risk · ₹10,000.00').click();
  const payouts = await view('Payouts');
  await payouts.getByRole('button', { name: 'Open lost-1' }).click();
  const panel = page.getByRole('region', { name: 'lost-1' });
  await panel.getByText('no response has told the client').waitFor();
  await panel.getByText(/^client not told .*, and the money is out$/).waitFor();

  await payer.status({ client_ref_id: 'lost-1' }); // a response that says PENDING
  await counter('1 at risk · ₹5,000.00').waitFor();
  await panel.getByText('no response has told the client').waitFor({ state: 'detached' });
  await page.reload();
  await loaded(seen);
  await counter('1 at risk · ₹5,000.00').waitFor();
  await payer.pay({ client_ref_id: 'lost-3', beneficiary_account: LOST, amount: 5000 });
  await counter('2 at risk · ₹10,000.00').waitFor();
  await payouts.getByRole('button', { name: 'Open lost-3' }).click();
  await payer.status({ client_ref_id: 'lost-3' });
  await payer.status({ client_ref_id: 'lost-2' });
  await counter('1 at risk · ₹5,000.00').waitFor({ state: 'detached' });
  expect((await payer.world.summary()).at_risk.count).toBe(0);
});

test('what the referee cannot judge is not shown as free of findings: Conduct says why, and each list of the Overview has the same states', async () => {
  const { payer, show } = await newWorld({ clock: FROZEN, journalEntries: 8 });
  for (const client_ref_id of ['once', 'twice'])
    await payer.pay({ client_ref_id, beneficiary_account: LOST, amount: 5000 });
  const { page, view } = await show();
  const conduct = await view('Conduct');
  await conduct.getByText('1 warning, 1 check inconclusive').waitFor();
  await conduct.getByText('never-asked inconclusive: the client may still read the status of').waitFor();
  for (let nth = 0; nth < 8; nth += 1) await payer.balance(); // the journal has no payment any more
  await conduct.getByText(/^1\d checks inconclusive$/).waitFor();
  await conduct.getByText(/^1\d checks inconclusive: 2 older requests were dropped/).waitFor();
  expect(await conduct.getByText('no findings').count()).toBe(0);

  await view('Overview');
  const states = ['Payouts at risk', 'Latest payouts'].map((name) => page.getByRole('list', { name }));
  const shown = (state: string) =>
    Promise.all(states.map((list) => list.getByText(state, { exact: true }).count()));
  await expect.poll(() => shown('PENDING')).toEqual([2, 2]);
  await payer.clock.advance('3s'); // they settle, and are still at risk
  await expect.poll(() => shown('SUCCESS')).toEqual([2, 2]);
  expect(await page.getByRole('main').getByText('PENDING', { exact: true }).count()).toBe(0);
});

test('a world is shown by its name and key, and one that is dropped meanwhile as the new one that its key has', async () => {
  const { payer, show, url } = await newWorld({ clock: FROZEN, adminToken: ADMIN });
  const naming = { headers: { 'x-sandbox-world-name': 'refund retries' } };
  expect((await payer.send('GET', '/_sandbox/world', naming)).status).toBe(200);
  await payer.pay({ client_ref_id: 'of the old world' });
  const { page, view, said, controls } = await show();
  const name = await page.getByTitle('Show another world').textContent();
  expect(name).toContain(payer.apiKey);
  expect(name).toContain('refund retries');

  await (await view('Payouts')).getByRole('button', { name: 'Open of the old world' }).click();
  const row = (await view('Overview')).getByText('of the old world');
  await row.waitFor();
  expect(page.url()).toContain('payout=');
  const { id } = await payer.world.summary();
  const headers = { authorization: `Bearer ${ADMIN}` };
  let ask: (route: Route) => void;
  const asked = new Promise<Route>((resolve) => (ask = resolve));
  await page.route('**/_sandbox/wallet', (route) => ask(route), { times: 1 });
  await fetch(`${url}/_sandbox/worlds/${id}`, { method: 'DELETE', headers });
  const wallet = await asked;
  expect(await row.isVisible()).toBe(true); // until everything of the new world is there
  await wallet.continue();
  await row.waitFor({ state: 'detached' });
  await said.getByText('The world began anew or was replaced: 1 payout of it is gone.').waitFor();
  expect(await controls.innerText()).toContain('₹10,00,000.00');
  await page.waitForURL((shown) => !shown.hash.includes('payout=')); // in whichever view
});

test('an action whose response was lost says so once and marks no field, and what the server says about its store is shown at once, in its words, and nothing can be done meanwhile', async () => {
  const { payer, seen, page, controls, said, view } = await shownWorld();
  const overview = await view('World');
  await page.route('**/_sandbox/wallet/credit', (route) => route.abort('connectionreset'), { times: 1 });
  await overview.getByRole('button', { name: 'Credit' }).click();
  await said.getByText('this may or may not have happened').waitFor();
  expect(await overview.getByLabel('Amount').getAttribute('aria-invalid')).toBe('false');
  await live(seen);
  expect(await overview.getByRole('alert').count()).toBe(0);
  expect(await payer.world.balance()).toBe(1_000_000);

  await view('Payouts');
  await payer.pay({ client_ref_id: 'known' });
  const known = page.getByRole('button', { name: 'Open known' });
  await known.waitFor();
  const unavailable = {
    status: 503,
    headers: { [SANDBOX_HEADER]: '1', 'content-type': 'application/json' },
    body: JSON.stringify({
      status: 'error',
      code: 'STORE_UNAVAILABLE',
      message: 'The store of the worlds cannot be used',
    }),
  };
  await page.route('**/_sandbox/**', (route) => route.fulfill(unavailable));
  const alert = controls.getByRole('alert');
  await alert.getByText('The store of the worlds cannot be used').waitFor({ timeout: 8000 });
  expect(await controls.getByText('npm start').count()).toBe(0);
  const advance = controls.getByRole('button', { name: '+1 h', exact: true });
  expect(await advance.isDisabled()).toBe(true);
  expect(await advance.getAttribute('title')).toBe('The store of the worlds cannot be used');
  await page.keyboard.press('f'); // a key has no button that says so
  await said.getByText('The store of the worlds cannot be used').waitFor();
  await known.waitFor(); // what it last knew
  await page.unrouteAll();
  await alert.waitFor({ state: 'detached' });
});

test('every sum that the dashboard shows is that of the control API, when it is opened and after events', async () => {
  const { payer, show } = await newWorld();
  const accounts = ['000123456789', REVERSED_LATER, '9999200001', '9999200005'];
  const many = sized(300, 3000);
  await payMany(payer, many, (nth) => ({ amount: 1 + (nth % 50), beneficiary_account: accounts[nth % 4] }));
  await payer.pay({ client_ref_id: 'lost-1', beneficiary_account: LOST });
  const { page, view, controls } = await show();
  const check = async (): Promise<void> => {
    const { transactions, at_risk: risk, out_of_date: old } = await payer.world.summary();
    const wallet = await payer.world.wallet();
    const header = `${rupees(wallet.balance)}${grouped(risk.count)} at risk · ${rupees(risk.amount)}`;
    const stale = old.count === 0 ? '' : `${grouped(old.count)} out of date`;
    await expect
      .poll(() => controls.innerText().then((text) => text.replaceAll('\n', '')))
      .toContain(header + stale);
    const back = `${grouped(transactions.FAILED)} FAILED, ${grouped(transactions.REVERSED)} REVERSED`;
    const figures = await (await view('Overview')).getByLabel('Wallet').innerText();
    for (const shown of [wallet.in_flight, wallet.paid_out, wallet.came_back].map(rupees))
      expect(figures).toContain(shown);
    expect(figures).toContain(back);
    const payouts = await view('Payouts');
    const all = Object.values(transactions).reduce((sum, count) => sum + count, 0);
    const listed = async (filter: string, text: string): Promise<void> => {
      await payouts.getByLabel('State').selectOption(filter);
      await expect.poll(() => payouts.getByRole('status').first().innerText()).toBe(text);
    };
    for (const [state, count] of Object.entries(transactions))
      await listed(state, count === all ? grouped(all) : `${grouped(count)} of ${grouped(all)}`);
    await listed('at_risk', grouped(risk.count));
    await listed('out_of_date', grouped(old.count));
    await page.getByRole('searchbox').fill('');
  };
  await check();
  await payer.pay({ client_ref_id: 'lost-2', beneficiary_account: LOST });
  await payer.clock.advance('4d');
  for (const nth of [1, 2, 3]) await payer.status({ client_ref_id: `order-${nth}` });
  await check();
});
