import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { WorldReport } from '../../src/contract/conduct.ts';
import { startSandbox } from '../../src/index.ts';
import { live, loaded, REVERSED_LATER, useWorldPage } from '../support/browser.ts';
import { clientOf, sandboxFor } from '../support/sandbox.ts';
import { hasCurl } from '../support/paying-command.ts';
import { TcpProxy } from '../support/http/tcp-proxy.ts';

const run = promisify(execFile);

const { open, newWorld, shownWorld } = useWorldPage();

test('the dashboard shows what the client does wrong with the money, and the requests that show it', async () => {
  const { payer, show } = await newWorld();
  await payer.pay({ client_ref_id: 'order-1', amount: 10.005 }); // before the first verdict
  const { page, view } = await show();
  const sent = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  expect(sent.filter((name) => name.includes('/referee'))).toEqual([]); // only Conduct asks for a verdict
  const conduct = await view('Conduct');
  const finding = conduct.getByRole('listitem').filter({ hasText: 'amount-not-paise' });
  await finding.getByText('Fix: count in whole paise').waitFor();
  expect(await conduct.getByRole('listitem').count()).toBe(1);
  await page.route('**/_sandbox/referee*', async (route) => {
    const response = await route.fetch();
    const report = (await response.json()) as WorldReport;
    await route.fulfill({ response, json: { ...report, counts: { ...report.counts, error: 490 } } });
  });
  await payer.pay({ client_ref_id: 'order-2', amount: 10.005 });
  await conduct.getByText(/^\d of 49\d: the report lists at most 100 of each check$/).waitFor();
  await page.unrouteAll({ behavior: 'wait' }); // a handler that is cut off would leave its request without a response
  await finding.getByRole('button', { name: '#1' }).first().click();
  await page.getByRole('region', { name: 'Request 1' }).waitFor();
  await payer.world.reset();
  await (await view('Conduct')).getByText('nothing to judge yet').waitFor();
});

test('the dashboard makes a payout, settles it, and tells its story with the reversal three days later', async () => {
  const { page, payer, view, controls, form, said } = await shownWorld();
  const wallet = (await view('Overview')).getByLabel('Wallet');
  await wallet.getByText('₹10,00,000.00').first().waitFor();
  await page.keyboard.press('p');
  await form.getByLabel('Outcome').selectOption(REVERSED_LATER);
  await form.getByLabel('Amount').fill('25000');
  await form.getByRole('button', { name: 'Send payout' }).click();
  await form.getByText(/^200 after/).waitFor();
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
  const payouts = await view('Payouts');
  const row = payouts.getByRole('row').filter({ hasText: '₹25,000.00' });
  await row.getByText('PENDING', { exact: true }).waitFor();
  await controls.getByText('₹9,75,000.00').waitFor();

  await controls.getByRole('button', { name: 'Resume' }).click();
  await row.getByText('SUCCESS', { exact: true }).waitFor(); // two seconds of world time later, by an event
  await controls.getByRole('button', { name: 'Freeze' }).click();
  await controls.getByRole('button', { name: 'Resume' }).waitFor();
  await controls.getByRole('button', { name: '+3 days' }).click();
  await said.getByText(/1 change: try-\w+ REVERSED/).waitFor();
  await row.getByText('REVERSED', { exact: true }).waitFor();
  await controls.getByText('₹10,00,000.00').waitFor();

  await row.getByRole('button').click();
  const panel = page.getByRole('region', { name: /^try-/ });
  const story = panel.getByRole('list', { name: 'Story' });
  await story.getByText('SUCCESS, with its UTR').waitFor();
  await story.getByText('REVERSED, +₹25,000.00').waitFor();
  await story.getByText('client saw only PENDING').waitFor();
  await story.getByRole('button', { name: /initiate/ }).click();
  const request = page.getByRole('region', { name: 'Request 1' });
  await request.getByText('the dashboard').waitFor();
  await request.getByRole('button', { name: 'magic/success-then-reversed' }).click();
  await page
    .locator('li:focus', { hasText: '9999200004: SUCCESS after 2 s, REVERSED after 3 days' })
    .waitFor();
  expect(await payer.world.transactions()).toMatchObject([{ amount: 25_000, status: 'REVERSED' }]);
});

test('failures are ordered in a sentence, used in the order in which they were added, and name the requests that met them', async () => {
  const { controls, view, payer, form } = await shownWorld();
  const ordered = controls.getByTestId('ordered').getByRole('listitem');
  const order = async (what: string, count: number): Promise<void> => {
    await controls.getByLabel('What happens').selectOption(what);
    await controls.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => ordered.count()).toBe(count);
  };
  const kinds = await controls.getByLabel('What happens').locator('option').allTextContents();
  expect(kinds.filter((kind) => !/the payout$|, and no payout$/.test(kind))).toEqual([]);
  expect(new Set(kinds).size).toBe(kinds.length);
  await order('gets a 500 after the payout', 1);
  await order('gets a 429, and no payout', 2);
  const paid = [await payer.pay(), await payer.pay(), await payer.pay()];
  expect(paid.map(({ status }) => status)).toEqual([500, 429, 200]);
  await ordered.nth(1).getByRole('button', { name: 'Request #2' }).waitFor();
  expect(await ordered.nth(1).textContent()).toContain('the next initiate gets a 429, and no payout used#2');
  const inFlight = (await payer.world.wallet()).in_flight;

  await order('times out after the payout', 3);
  await controls.getByRole('button', { name: 'Pay', exact: true }).click();
  await form.getByRole('button', { name: 'Send payout' }).click();
  const requests = await view('Requests');
  await requests.getByLabel('What went wrong').selectOption('Paid, but the client saw a failure');
  const row = requests.getByRole('row').filter({ hasText: 'world/timeout-after-payout' });
  await row.getByText('no response yet').waitFor();
  await row.getByText('paid', { exact: true }).waitFor();
  await form.getByRole('button', { name: 'Stop waiting' }).click();
  await row.getByText('timed out').waitFor();
  expect((await payer.world.wallet()).in_flight).toBe(inFlight + 1500.5);
  await payer.pay({ client_ref_id: 'reset', beneficiary_account: '9999100002' }).catch(() => undefined); // reset after the payout
  await requests.getByText('connection-reset', { exact: true }).click();
  await requests.getByText('The client received nothing').waitFor();
  await requests.getByRole('heading', { name: 'What would have been sent: 200' }).waitFor();
  await controls.getByRole('button', { name: 'Back to normal' }).click();
  await controls.getByTestId('ordered').waitFor({ state: 'detached' });
  await form.getByRole('button', { name: 'Send payout' }).click();
  await form.getByText(/^200 after/).waitFor();

  await controls.getByLabel('How many').selectOption('Each of the next 3');
  await controls.getByLabel('Request', { exact: true }).selectOption('status reads');
  await order('gets a 404', 1);
  await ordered.getByText('each of the next 3 status reads gets a 404').waitFor();
  expect((await payer.status({ client_ref_id: 'order-1' })).status).toBe(404);
  await ordered.getByText('used 1 of 3').waitFor();
  await payer.world.rule({ name: 'teapot', match: { route: 'initiate' }, effect: { respond: 418 } });
  await ordered.first().getByText('teapot').waitFor(); // it is tried first
});

test('the dashboard credits and debits the wallet, forces a payout into a legal state and shows its refund, and after a reset shows what is new', async () => {
  const { page, payer, view, controls, said } = await shownWorld();
  const world = await view('World');
  await world.getByLabel('Amount').fill('500.25');
  await world.getByRole('button', { name: 'Credit' }).click();
  await controls.getByText('₹10,00,500.25').waitFor();
  await said.getByText('₹500.25 credited: the balance is').waitFor();
  await world.getByLabel('Amount').fill('99999999');
  await world.getByRole('button', { name: 'Debit' }).click();
  await world.getByRole('alert').getByText('less than INR 99999999').waitFor();
  await world.getByLabel('Amount').fill('1'); // another amount may be right
  await world.getByRole('alert').waitFor({ state: 'detached' });

  const forced = { client_ref_id: 'again', amount: 100, beneficiary_account: '9999200005' };
  await payer.pay(forced);
  const payouts = await view('Payouts');
  const row = (name: string) => payouts.getByRole('button', { name: `Open ${name}` });
  await row('again').click();
  const panel = page.getByRole('region', { name: 'again' });
  await panel.getByText('PENDING for ever').waitFor();
  await panel.getByText('Facts and ledger').click();
  await panel.getByText('₹10,00,400.25 after').waitFor();
  await panel.getByRole('button', { name: 'Make it FAILED' }).click();
  await panel.getByText('FAILED by a forced transition').waitFor();
  await panel.getByText('FAILED (forced), +₹100.00').waitFor();
  expect(await panel.getByRole('button', { name: /^Make it/ }).count()).toBe(0);
  await payer.world.reset();
  await payer.pay(forced); // it has the same id
  const facts = async (): Promise<number> => {
    await row('again').click(); // it may have been closed while the world had no payout
    return panel.getByText('₹9,99,900.00 after').count(); // its facts may be folded again
  };
  await expect.poll(facts).toBe(1);
  expect(await panel.getByText('₹10,00,400.25 after').count()).toBe(0);

  await payer.pay({ client_ref_id: 'gone' });
  await row('gone').waitFor();
  await payer.world.transition((await payer.world.payout('gone')).txn_id, 'FAILED');
  await payer.world.reset(); // just after the transition
  for (const ref of ['one', 'two', 'three']) {
    await payer.pay({ client_ref_id: ref });
    await row(ref).waitFor(); // each time, the page has asked for what it misses
  }
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('the dashboard shows a scenario, a rule, a cleared journal and a reset that somebody else orders, and says so, and uses the scenario that is chosen from the list', async () => {
  const { payer, view, said, controls } = await shownWorld();
  const scenario = await view('Scenario');
  const normal = scenario.getByText('default, active on the server');
  await normal.waitFor();
  await payer.world.use('server-error');
  const rules = scenario.getByRole('listitem').filter({ hasText: 'server-error/' });
  await rules.first().waitFor();
  await said.getByText('Another client changed the scenario').waitFor();
  expect((await payer.pay()).status).toBe(500);
  await rules.filter({ hasText: 'used 1×' }).waitFor(); // by an event
  await payer.world.rule({ name: 'elsewhere', match: { route: 'status' }, effect: { delay: '1s' } });
  await scenario.getByText('world/elsewhere').waitFor();
  const requests = await view('Requests');
  await requests.getByText('server-error/').first().waitFor();
  await payer.world.clearRequests();
  await requests.getByText('server-error/').waitFor({ state: 'detached' });
  await said.getByText('Another client cleared the requests').waitFor();
  await view('Scenario');
  await payer.world.reset();
  await scenario.getByText('world/elsewhere').waitFor({ state: 'detached' });
  await said.getByText('The world was reset by another client').waitFor();
  await normal.waitFor();

  const one = scenario.getByRole('list', { name: 'Scenarios' }).getByRole('listitem').filter({
    hasText: 'Every initiate gets a 500',
  });
  const use = one.getByRole('button', { name: 'Use server-error' });
  await use.click();
  await scenario.getByText('server-error, chosen for this world').waitFor();
  expect((await payer.pay()).status).toBe(500);
  expect(await use.getAttribute('title')).toBe('Already in use');
  await scenario.getByRole('button', { name: 'Use default' }).click(); // follows the server again
  await normal.waitFor();
  await use.click();
  await expect
    .poll(() => controls.getByTestId('ordered').textContent())
    .toBe('Scenario server-errorBack to normal');
  await scenario.getByRole('button', { name: 'Back to normal' }).click();
  await normal.waitFor();
});

test('an invalid key shows the refusal of the sandbox, another key can be entered and is kept, and without a key one is suggested', async () => {
  const { url } = await sandboxFor();
  const seen = await open(url, { apiKey: 'nonsense' });
  const { page } = seen;
  await page.getByRole('alert').getByText('does not accept this key').waitFor();
  await page.getByRole('button', { name: 'Use sk_test_demo' }).click();
  await live(seen);
  await page.reload(); // the key is stored
  await live(seen);
  await expect.poll(() => page.url()).not.toContain('key='); // and is not in the address

  await page.evaluate('localStorage.clear()');
  await page.goto(`${url}/_sandbox/`);
  expect(await page.getByLabel('API key').inputValue()).toBe('sk_test_demo');
  await page.getByRole('button', { name: 'Show this world' }).click();
  await live(seen);
});

test('a link with another key opens its world, and the stored key stays', async () => {
  const { url, payer, seen, page } = await shownWorld();
  const keyShown = page.getByTitle('Show another world').locator('code');
  const left = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/_sandbox/events'));
  await page.evaluate(`location.hash = 'key=sk_test_of_a_link'`);
  await left; // the events of the first world are not read any more
  await live(seen);
  expect(await keyShown.textContent()).toBe('sk_test_of_a_link');
  await expect.poll(() => page.url()).not.toContain('key=');
  await page.goto('about:blank');
  await page.goto(`${url}/_sandbox/`); // anyone can write a link
  await live(seen);
  expect(await keyShown.textContent()).toBe(payer.apiKey);

  await keyShown.click();
  await page.getByLabel('API key').and(page.locator(':focus')).waitFor();
});

test('the dashboard says that the server is gone, keeps what it last knew, and reconnects with everything that happened meanwhile', async () => {
  const portOf = ({ url }: { readonly url: string }): number => Number(new URL(url).port);
  const first = await startSandbox();
  const proxy = await TcpProxy.to(portOf(first)); // an address that stays
  onTestFinished(() => proxy.close());
  const seen = await open(`http://127.0.0.1:${proxy.port}`, { apiKey: 'sk_test_again' });
  const { page, controls, view } = seen;
  await loaded(seen);
  await clientOf(first.world('sk_test_again')).pay({ client_ref_id: 'before', amount: 10.005 });
  await clientOf(first.world('sk_test_again')).pay({ client_ref_id: 'before' });
  const payouts = await view('Payouts');
  await payouts.getByText('before').waitFor();
  await first.close();
  const note = controls.getByRole('alert').getByText('The sandbox does not respond.');
  await note.waitFor();
  await controls.getByText(/as of \d\d:\d\d:\d\d IST/).waitFor();
  await controls.getByText('last known').waitFor();
  const time = await controls.getByRole('timer').textContent();
  expect(await controls.getByRole('button', { name: '+1 day' }).getAttribute('title')).toBe(
    'The sandbox does not respond',
  );
  expect(await controls.getByRole('button', { name: '+1 day' }).isDisabled()).toBe(true);
  expect(await controls.getByRole('timer').textContent()).toBe(time); // the clock stands still

  const second = await startSandbox();
  proxy.targetPort = portOf(second);
  try {
    await clientOf(second.world('sk_test_again')).pay({ client_ref_id: 'meanwhile' });
    await live(seen);
    await payouts.getByText('meanwhile').waitFor();
    await payouts.getByText('before').waitFor({ state: 'detached' });
    await page.getByLabel('What happened').getByText('replaced: 1 payout of it is gone').waitFor();
    expect(await note.count()).toBe(0);
  } finally {
    await page.goto('about:blank'); // ends its stream of events
    await second.close();
  }
});

test('the dashboard shows markup and control characters in the texts of a client as text', async () => {
  const { page, payer, view } = await shownWorld();
  const evil = '<img src=x onerror=alert(1)>';
  const turned = '\u202Elive क्\u200Dष 👨\u200D👩\u200D👧';
  await payer.pay({ client_ref_id: `ref ${evil}`, beneficiary_name: turned, remarks: `remark ${evil}` });
  const row = (await view('Payouts')).getByRole('row').filter({ hasText: evil });
  expect(await row.textContent()).toContain('\uFFFDlive क्\u200Dष 👨\u200D👩\u200D👧'); // the joiners of scripts and emoji stay
  await row.getByRole('button').click();
  await page
    .getByRole('region', { name: 'ref <img' })
    .getByRole('button', { name: /initiate/ })
    .click();
  await page.getByRole('region', { name: 'Request 1' }).getByText(`remark ${evil}`).waitFor();
  expect(await page.locator('img').count()).toBe(0);
});

test.skipIf(!hasCurl)('the curl command of the form makes the same payout as the form', async () => {
  const { page, view, form } = await shownWorld();
  await page.keyboard.press('p');
  await form.getByLabel('Beneficiary', { exact: true }).fill("O'Brien $(id)");
  const command = form.getByLabel('The payout as curl');
  await expect.poll(() => command.textContent()).toMatch(/"client_ref_id":\s*"[^"]+"[^]*Brien/); // both come a moment later
  const curl = await command.textContent();
  const { stdout } = await run('sh', ['-c', curl!]); // asynchronous, since the sandbox runs in this process
  expect(JSON.parse(stdout)).toMatchObject({ status: 'success' });
  await (await view('Payouts')).getByRole('row').filter({ hasText: "O'Brien $(id)" }).waitFor();
});
