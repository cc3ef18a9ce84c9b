import type { Locator, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { SEVERITIES } from '../../src/client/controlled-world.ts';
import type { JournalEntry, TransactionResponse } from '../../src/contract/control-responses.ts';
import { grouped, rupees, SANDBOX_HEADER } from '../../src/contract/words.ts';
import { istMoment, istShortDay, istTime } from '../../src/dashboard/ui/formats.ts';
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
  await payer.world.referee({ intent: { client_ref_id: '^(order-.*)' } });
  await conduct.getByText('result inconclusive: the intent reads none of 2 references').waitFor();
  await payer.world.referee({});
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
  expect(await page.getByTitle('Show another world').textContent()).toBe(`refund retries ${payer.apiKey}`);
  expect(await page.title()).toBe('refund retries · Payout sandbox');

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
  await said.getByText('The world was reset or replaced: 1 payout of it is gone.').waitFor();
  expect(await controls.innerText()).toContain('₹10,00,000.00');
  await page.waitForURL((shown) => !shown.hash.includes('payout=')); // in whichever view
  expect(await page.title()).toBe(`${id.slice(0, 8)} · Payout sandbox`);
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
  await alert.getByText('The store of the worlds cannot be used').waitFor();
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

/** All numbers in a text, in their order. */
const numbersIn = (text: string): readonly string[] => text.match(/\d(?:[\d,.:]*\d)?/g) ?? [];
const shortMoment = (at: string): string => `${istShortDay(at)}, ${istTime(at)}`;
/** A payout, as a row of the list has it. */
const payoutTexts = (payout: TransactionResponse) =>
  [payout.client_ref_id, rupees(payout.amount), payout.utr, shortMoment(payout.created_at)].join(' ');

test('every number that the dashboard shows is that of the control API, when it is opened and after events', async () => {
  const { payer, show } = await newWorld();
  const { world } = payer;
  const accounts = ['000123456789', REVERSED_LATER, '9999200001', '9999200005'];
  const many = sized(300, 3000);
  await payMany(payer, many, (nth) => ({ amount: 1 + (nth % 50), beneficiary_account: accounts[nth % 4] }));
  await payer.pay({ client_ref_id: 'lost-1', beneficiary_account: LOST });
  await payer.pay({ client_ref_id: 'inexact', amount: 10.005 });
  const { page, view, controls } = await show();
  const shows = async (place: Locator, ...texts: readonly (string | number | null)[]): Promise<void> => {
    const wanted = numbersIn(texts.join(' '));
    await expect.poll(async () => numbersIn(await place.innerText())).toEqual(wanted);
  };
  /** Compares the rows that are in sight. @returns how many they are */
  const showsRows = async (rows: Locator, texts: readonly string[]): Promise<number> => {
    const seen = async () => (await rows.allInnerTexts()).map(numbersIn);
    await expect.poll(async () => (await seen())[0]).toEqual(numbersIn(texts[0]!));
    const all = await seen();
    expect(all).toEqual(texts.slice(0, all.length).map(numbersIn));
    return all.length;
  };

  const check = async (): Promise<void> => {
    const { transactions: counts, at_risk: risk, out_of_date: old, clock } = await world.summary();
    const [wallet, payouts, journal] = [
      await world.wallet(),
      (await world.transactions()).toReversed(),
      (await world.requests()).toReversed(),
    ];
    const isOld = old.count > 0 ? grouped(old.count) : '';
    const {
      balance,
      opening_balance: opening,
      in_flight: inFlight,
      paid_out: paid,
      came_back: back,
    } = wallet;
    const header = controls.locator(':scope > div').first();
    await shows(header, rupees(balance), grouped(risk.count), rupees(risk.amount), isOld, payer.apiKey);
    await shows(controls.getByRole('timer'), istTime(clock.now), istShortDay(clock.now));
    const next = await controls.getByRole('button', { name: 'Go to the next step' }).count();
    expect(next).toBe(clock.next_due === null ? 0 : 1);

    const overview = await view('Overview');
    await shows(
      overview.getByLabel('Wallet'),
      [rupees(balance), rupees(opening), rupees(inFlight), grouped(counts.PENDING)].join(' '),
      [rupees(paid), grouped(counts.SUCCESS), rupees(back), grouped(counts.FAILED)].join(' '),
      grouped(counts.REVERSED),
    );
    await shows(overview.getByText('no response has told'), grouped(risk.count), rupees(risk.amount));
    const listed = (all: typeof payouts) => all.slice(0, 10).map((one) => payoutTexts({ ...one, utr: null }));
    await shows(overview.getByRole('button', { name: ' more' }), grouped(payouts.length - 10));
    const lists = { 'Payouts at risk': payouts.filter((one) => one.at_risk), 'Latest payouts': payouts };
    for (const [name, all] of Object.entries(lists))
      await showsRows(overview.getByRole('list', { name }).getByRole('listitem'), listed(all));
    const drawn = new Map<string, number>();
    for (const title of await overview.locator('rect title').allTextContents()) {
      const [, count, what] = /^([\d,]+) (.+)$/.exec(title)!;
      drawn.set(what!, (drawn.get(what!) ?? 0) + Number(count!.replaceAll(',', '')));
    }
    const steps = new Map<string, number>();
    const step = (what: string): unknown => steps.set(what, (steps.get(what) ?? 0) + 1);
    for (const { at_risk: isRisk, timeline } of payouts) {
      step(isRisk ? 'made, at risk' : 'made');
      for (const { to, at, done } of timeline)
        if (to !== null && to !== 'PENDING' && at !== null)
          step(`${to === 'SUCCESS' ? 'settled' : 'returned'}${done ? '' : ', scheduled'}`);
    }
    expect(drawn).toEqual(steps);

    const list = await view('Payouts');
    for (const [filter, count] of [
      ...Object.entries({ ...counts, at_risk: risk.count, out_of_date: old.count }),
      ['', payouts.length] as const,
    ]) {
      await list.getByLabel('State').selectOption(filter);
      const isPart = count !== payouts.length && filter in counts;
      await shows(list.getByRole('status').first(), grouped(count), isPart ? grouped(payouts.length) : null);
    }
    const rows = page.locator('[role=row][aria-rowindex]:not([aria-rowindex="1"])');
    expect(await showsRows(rows, payouts.map(payoutTexts))).toBeGreaterThan(20);
    const [payout] = payouts as [TransactionResponse];
    await rows.first().getByRole('button').click();
    const panel = page.getByRole('region', { name: payout.client_ref_id });
    await panel.getByText('Facts and ledger').click();
    const {
      client_ref_id: ref,
      txn_id: id,
      utr,
      beneficiary_account: account,
      beneficiary_ifsc: ifsc,
    } = payout;
    const entries = await world.entries({ txn_id: id });
    const sums = entries.map((entry) => `${rupees(Math.abs(entry.amount))} ${rupees(entry.balance)}`);
    await shows(panel.locator('dl'), ref, id, account, ifsc, utr, istMoment(payout.created_at), ...sums);
    await shows(panel.locator('.big'), rupees(payout.amount));
    await panel.getByRole('button', { name: 'Close' }).click();

    await view('Requests');
    const requestTexts = ({
      id: nth,
      answer,
      client_ref_id: of,
      txn_id: txn,
      at,
      ...decided
    }: JournalEntry) =>
      [nth, answer!.status, of ?? txn, decided.rule ?? (decided.warnings.length || ''), shortMoment(at)].join(
        ' ',
      );
    expect(await showsRows(rows, journal.map(requestTexts))).toBeGreaterThan(20);

    const conduct = await view('Conduct');
    const report = await world.referee();
    const { error, warning, notice, inconclusive } = report.counts;
    await shows(
      conduct.getByRole('status').first(),
      ...[error, warning, notice, inconclusive].filter((count) => count > 0).map(grouped),
    );
    const findings = report.checks.flatMap(({ id: check, findings: all }) =>
      all.map((one) => ({ check, ...one })),
    );
    const sorted = findings.toSorted(
      (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
    );
    await shows(
      conduct.getByRole('list', { name: 'Findings' }),
      ...sorted.map((one) => [one.check, one.message, one.fix, ...one.requests].join(' ')),
    );
  };
  await check();
  await payer.pay({ client_ref_id: 'lost-2', beneficiary_account: LOST });
  await payer.clock.advance('4d');
  for (const nth of [1, 2, 3]) await payer.status({ client_ref_id: `order-${nth}` });
  await check();
});
