import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasBrowser, loaded, needsBrowser, useBrowser } from '../support/browser.ts';
import { sandboxFor } from '../support/sandbox.ts';

const FROZEN = '2026-01-15T10:30:00Z';
const LOST_ANSWER = '9999100500'; // paid, but answered 500
const REVERSED_LATER = '9999200004';
const FINGER_PX = 44;

describe.skipIf(!hasBrowser)(`the look of the dashboard${needsBrowser}`, { timeout: 60_000 }, () => {
  const open = useBrowser();

  /** A world, and the dashboard that shows it, 1280 px wide unless said otherwise. */
  async function worldPage(width = 1280) {
    const { url, client } = await sandboxFor({ clock: FROZEN });
    const payer = client();
    const show = async () => {
      const seen = await open(url, { apiKey: payer.apiKey, width });
      await loaded(seen);
      return seen;
    };
    return { payer, show };
  }

  const texts = (locator: Locator): Promise<string[]> => locator.allTextContents();

  test('a payout whose client saw a failure is marked everywhere, and counted by a button in the header that lists it', async () => {
    const { payer, show } = await worldPage();
    await payer.pay({ client_ref_id: 'fine' });
    const { page, section } = await show();
    const counter = page.getByRole('banner').getByRole('button', { name: /at risk/ });
    expect(await counter.count()).toBe(0);

    expect((await payer.pay({ client_ref_id: 'lost', beneficiary_account: LOST_ANSWER })).status).toBe(500);
    await payer.pay({ client_ref_id: 'lost-again' });
    await counter.getByText('1 at risk').waitFor();
    const badge = section('Transactions').getByText('client saw 500');
    await section('Transactions').getByRole('row').filter({ hasText: 'lostclient saw 500' }).waitFor();
    const request = section('Requests').getByRole('row').filter({ hasText: '#2 initiate' });
    await request.getByText('paid', { exact: true }).waitFor();

    await counter.click();
    const list = section('Transactions');
    await list.getByText('1 of 3').waitFor();
    await list.getByRole('button', { name: 'Open lost' }).click();
    const detail = page.getByRole('region', { name: 'lost', exact: true });
    await detail.getByText('It has not been told of this payout since.').waitFor();
    await badge.first().waitFor(); // in the list beside the details
    await page.setViewportSize({ width: 360, height: 780 });
    await detail.getByText('client saw 500', { exact: true }).waitFor();
    await detail.getByRole('button', { name: 'Close' }).click();
    await badge.waitFor();
    await page.setViewportSize({ width: 1280, height: 900 });

    await payer.status({ client_ref_id: 'lost' });
    await list.getByRole('button', { name: 'Open lost' }).click();
    await detail.getByText('It has been told of this payout since, by request #4.').waitFor();
    await detail.getByRole('button', { name: 'request #2' }).click();
    await page.getByRole('region', { name: 'Request 2' }).getByText('paid', { exact: true }).waitFor();
  });

  test('while every payout fails by order, the header says so, with a button that ends it', async () => {
    const { payer, show } = await worldPage();
    const { page, section } = await show();
    const note = page.getByRole('banner').getByTestId('ordered');
    await section('Scenario').getByRole('button', { name: '500 after commit' }).click();
    await note.getByText('Every payout is answered 500, although it is made.').waitFor();
    await note.getByRole('button', { name: 'End it' }).click();
    await note.waitFor({ state: 'detached' });
    expect((await payer.pay()).status).toBe(200);

    await payer.world.use('server-error');
    await note.getByText('Every payout is answered 500, and is not made.').waitFor();
    await note.getByRole('button', { name: 'Use the scenario of the server' }).click();
    await note.waitFor({ state: 'detached' });
    expect((await payer.pay()).status).toBe(200);
  });

  test('the chart is right for a new world, one payout, three days later, and after a reload', async () => {
    const { payer, show } = await worldPage();
    const seen = await show();
    const chart = seen.section('Wallet').getByRole('figure');
    const amounts = chart.locator('text.balances');
    const times = chart.locator('text.time');
    await chart.getByText('No change since 15 Jan 2026, 16:00:00 IST').waitFor();
    expect(await texts(amounts)).toEqual(['₹0', '₹5L', '₹10L', '₹15L']);
    expect(await texts(times)).toEqual(['16:00', '15 Jan', 'now']);

    await payer.pay({ beneficiary_account: REVERSED_LATER });
    await chart.getByText('1 change from 15 Jan 2026, 16:00:00 IST to now').waitFor();
    await chart.getByText('the axis does not start at ₹0').waitFor();
    const labels = await texts(amounts);
    expect(new Set(labels).size).toBe(labels.length);
    expect(await texts(times)).toEqual(['16:00', '15 Jan', 'now']); // nothing twice: the clock stands still

    await payer.clock.advance('3d');
    const shown = async () => {
      await chart.getByText('2 changes from 15 Jan 2026, 16:00:00 IST to now').waitFor();
      return [...(await texts(times)), ...(await texts(amounts))];
    };
    const before = await shown();
    expect(before).toContain('18 Jan');
    await seen.page.reload();
    await expect.poll(shown).toEqual(before);

    const box = (await chart.boundingBox())!;
    for (const label of await chart.locator('text').all()) {
      const { x, width } = (await label.boundingBox())!;
      expect(x).toBeGreaterThanOrEqual(box.x);
      expect(x + width).toBeLessThanOrEqual(box.x + box.width + 0.5);
    }
    const slider = chart.getByRole('slider', { name: 'Balance after each change' });
    await slider.hover({ position: { x: box.width / 2, y: 60 } });
    await chart.getByText('₹9,98,499.50 after payout −₹1,500.50 · 15 Jan 2026, 16:00:00 IST').waitFor();
    await slider.focus();
    await seen.page.keyboard.press('End');
    await chart
      .getByText('₹10,00,000.00 after refund +₹1,500.50 · 18 Jan 2026, 16:00:00 IST, 3 d after')
      .waitFor();
    await seen.page.keyboard.press('Enter');
    await seen.section('Transactions').getByRole('list', { name: 'Timeline' }).waitFor();
  });

  test('768 px wide, clock and pay are in sight beside lists that are as high as their rows', async () => {
    const { payer, show } = await worldPage(768);
    await payer.pay({ client_ref_id: 'only' });
    const { page, section } = await show();
    const inSight = async (locator: Locator): Promise<void> => {
      const { y, height } = (await locator.boundingBox())!;
      expect(y).toBeGreaterThan(0);
      expect(y + height).toBeLessThan(900);
    };
    const pay = section('Try it').getByRole('button', { name: 'Pay' });
    const freeze = section('Clock').getByRole('button', { name: 'Resume' });
    await page.getByRole('link', { name: 'Requests' }).click(); // at the end of the page
    await section('Requests').getByRole('row').last().waitFor();
    for (const button of [pay, freeze]) await inSight(button);
    expect((await section('Requests').getByRole('table').boundingBox())!.height).toBeLessThan(120); // one row
    expect(await texts(page.locator('.button.primary'))).toEqual(['Pay']);

    const order = await page.evaluate(
      '[...document.querySelectorAll("section h2")].map((title) => title.textContent)',
    );
    expect(
      (await texts(page.getByRole('navigation').getByRole('link'))).map((name) => name.replace(/\d+$/, '')),
    ).toEqual(order);

    const scrollHeight = (): Promise<number> => page.evaluate('document.documentElement.scrollHeight');
    const before = await scrollHeight();
    await section('Scenario').getByText('Magic beneficiaries').click();
    await section('Scenario').getByRole('button', { name: 'On for every payout: status-429' }).waitFor();
    expect((await scrollHeight()) - before).toBeLessThan(400);
  });

  test('360 px wide, every control is at least 44 px in size, and nothing is cut off', async () => {
    const { payer, show } = await worldPage(360);
    await payer.pay({ client_ref_id: 'lost', beneficiary_account: LOST_ANSWER });
    const { page } = await show();
    const small: unknown[] = [];
    const tabs = await Promise.all(
      (await page.getByRole('navigation').getByRole('link').all()).map((link) => link.boundingBox()),
    );
    expect(tabs.filter((tab, nth) => nth > 0 && tab!.x < tabs[nth - 1]!.x + tabs[nth - 1]!.width)).toEqual(
      [],
    );
    for (const name of [
      'Wallet',
      'Conduct',
      'Transactions',
      'Requests',
      'Clock',
      'Try it',
      'Scenario',
      'World',
    ]) {
      await page.getByRole('link', { name }).click();
      await page.getByRole('heading', { name, level: 2, exact: true }).waitFor();
      small.push(
        ...(await page.evaluate<
          unknown[]
        >(`[...document.querySelectorAll('a, button, input, select, summary')]
          .map((element) => [element, (element.closest('.check, .row') ?? element).getBoundingClientRect()])
          .filter(([, { width, height }]) => height > 0 && (height < ${FINGER_PX} || width < ${FINGER_PX}))
          .map(([element, { width, height }]) => [element.textContent, width, height])`)),
      );
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    }
    expect(small).toEqual([]);
  });

  test('without a match a list says what to do, and times in IST show UTC on hover', async () => {
    const { payer, show } = await worldPage();
    await payer.pay({ client_ref_id: 'only' });
    const { section } = await show();
    const list = section('Transactions');
    const created = list.getByRole('row').filter({ hasText: 'only' }).getByText('15 Jan, 16:00:00');
    expect(await created.getAttribute('title')).toBe('15 Jan 2026, 10:30:00 UTC');
    await list.getByLabel('Amount from').fill('much');
    expect(await list.getByLabel('Amount from').getAttribute('aria-invalid')).toBe('true');
    await list.getByRole('searchbox').fill('nobody');
    await list.getByText('No transaction fits this search and these filters.').waitFor();
    await list.getByRole('button', { name: 'Show all' }).click();
    await list.getByRole('row').filter({ hasText: 'only' }).waitFor();
  });
});
