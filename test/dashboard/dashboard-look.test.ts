import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { FROZEN, LOST, REVERSED_LATER, useWorldPage } from '../support/browser.ts';
import { payMany } from '../support/many-payouts.ts';
import { isLong, sized } from '../support/size.ts';

const FINGER_PX = 44;
const VIEWS = ['Overview', 'Payouts', 'Requests', 'Conduct', 'Scenario', 'World'] as const;

/** How many rows of lists have texts on top of each other. */
const OVERLAPPING = `[...document.querySelectorAll('[role=row]')].filter((row) => {
  const boxes = [...row.children].map((cell) => cell.getBoundingClientRect()).filter(({ width }) => width > 0);
  return boxes.some((a, nth) => boxes.slice(nth + 1).some((b) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1));
}).length`;

/** The controls that are too small for a finger. */
const SMALL = `[...document.querySelectorAll('a, button, input, select, summary')]
  .map((element) => [element, (element.closest('.check, [role=row]') ?? element).getBoundingClientRect()])
  .filter(([element, { width, height }]) => height > 0 && element.type !== 'file' && (height < ${FINGER_PX} || width < ${FINGER_PX}))
  .map(([element, { width, height }]) => [element.textContent, element.className, width, height])`;

/** The references of payouts at risk that have no room. */
const CUT_AT_RISK = `[...document.querySelectorAll('[role=row][data-risk] button')]
  .filter((button) => button.scrollWidth > button.clientWidth)
  .map((button) => button.textContent)`;

/** The amounts, and the marks of a list, that are not shown whole, in their cell or in their place on the page. */
const CUT_AMOUNTS = `[...document.querySelectorAll('main .number, [role=cell] > span')].filter((number) => {
  const place = (number.closest('[role=cell], dd, li') ?? number.parentElement).getBoundingClientRect();
  return number.getBoundingClientRect().right > place.right + 1;
}).map(({ textContent }) => textContent)`;

/** The failures that the sentence has no room for, by their texts. */
const CUT_SENTENCES = `[...document.querySelectorAll('form select[aria-label="What happens"] option')].filter((option) => {
  const select = option.parentElement;
  select.selectedIndex = option.index;
  const { width, right } = select.getBoundingClientRect();
  select.style.cssText = 'position: fixed; max-width: none';
  const needed = select.getBoundingClientRect().width;
  select.style.cssText = '';
  return width < needed - 1 || right > innerWidth;
}).map(({ textContent }) => textContent)`;

const { newWorld } = useWorldPage();

/** A bad day, and the dashboard that shows it. */
async function badDay(width: number) {
  const { payer, show } = await newWorld();
  for (const account of ['1', REVERSED_LATER, LOST, '9999000500', '9999200003']) {
    await payer.pay({ client_ref_id: `order-${account}`, beneficiary_account: account });
  }
  return { payer, show: () => show(width) };
}

/**
 * The accessibility problems that axe finds (https://github.com/dequelabs/axe-core). It takes links to views, which are hashes, for
 * links into the page.
 */
async function accessibilityProblems(page: Page): Promise<unknown[]> {
  return page.evaluate(`axe.run({ rules: { 'skip-link': { enabled: false } } }).then(({ violations }) => violations
      .map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`);
}

test.each([1400, 360, 768].slice(0, sized(1, 3)))(
  'the dashboard has no accessibility problem in light and dark, %i px wide',
  async (width) => {
    const { payer, show } = await badDay(width);
    await payer.clock.advance('4d');
    await payer.pay({ client_ref_id: 'scheduled' }); // its next step has a button of its own
    const { page, view, controls } = await show();
    await page.evaluate(axe.source); // evaluated by the debugger, since the page blocks other scripts
    const problems: unknown[] = [];
    for (const name of VIEWS) {
      await view(name);
      if (name === 'Payouts') await page.getByRole('button', { name: `Open order-${LOST}` }).click();
      if (name === 'Requests') await page.getByRole('button', { name: /^Open request 4,/ }).click();
      if (name === 'Conduct') await page.getByRole('button', { name: 'Break my client' }).click();
      for (const colorScheme of ['light', 'dark'] as const) {
        if (colorScheme === 'dark' && width < 1400 && !isLong) continue; // the same colours
        await page.emulateMedia({ colorScheme });
        problems.push(...(await accessibilityProblems(page)));
      }
    }
    await controls.getByRole('button', { name: 'Pay', exact: true }).click();
    problems.push(...(await accessibilityProblems(page)));
    expect(problems).toEqual([]);
  },
);

test.each([320, 360].slice(0, sized(1, 2)))(
  '%i px wide, every control is at least 44 px in size, and nothing is cut off',
  async (width) => {
    const { payer, show } = await badDay(width);
    await payer.world.rule({ name: 'held', match: { route: 'status' }, effect: { hold: 'arrived' } });
    const asking = payer.status({ client_ref_id: 'order-1' });
    const { page, view, controls } = await show();
    await controls.getByRole('button', { name: 'More' }).click();
    expect(await page.evaluate(CUT_SENTENCES)).toEqual([]);
    expect((await page.getByRole('main').boundingBox())!.y).toBeLessThanOrEqual(740 / 3); // of a low phone
    const small = await page.evaluate<unknown[]>(SMALL);
    await controls.getByRole('button', { name: 'Less' }).click();
    for (const name of VIEWS) {
      const shown = await view(name);
      if (name === 'Requests') {
        const held = shown.getByRole('list', { name: 'Held requests' }).getByText('nothing has happened yet');
        expect((await held.boundingBox())!.height).toBeLessThan(60); // in lines, not letter by letter
      }
      small.push(...(await page.evaluate<unknown[]>(SMALL)));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(900);
      expect(await page.evaluate(OVERLAPPING)).toBe(0);
      expect(await page.evaluate(CUT_AT_RISK)).toEqual([]);
    }
    expect(small).toEqual([]);
    for (const held of await payer.world.held()) await held.release();
    await asking;
  },
);

test.each([1400, 360, 768].slice(0, sized(1, 3)))(
  '%i px wide, the page stays where it is when failures are added',
  async (width) => {
    const { payer, show } = await badDay(width);
    const { page, controls } = await show();
    const top = async (): Promise<number> => (await page.getByRole('main').boundingBox())!.y;
    const before = await top();
    for (const name of ['one', 'two', 'three'])
      await payer.world.rule({ name, match: { route: 'initiate' }, effect: { respond: 500 } });
    await expect.poll(() => controls.getByTestId('ordered').locator('li').count()).toBe(3);
    expect(await top()).toBe(before);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  },
);

test('the largest amounts are shown whole, on a narrow page and beside an open payout', async () => {
  const { payer, show } = await newWorld({ clock: FROZEN, openingBalance: 100_000_000_000 });
  await payer.pay({ client_ref_id: 'large', amount: 99_999_999_999.99 });
  await payer.pay({ client_ref_id: 'returned', beneficiary_account: REVERSED_LATER });
  await payer.clock.advance('4d');
  await payer.status({ client_ref_id: 'returned' });
  const { page, view } = await show(320);
  await view('Overview');
  expect(await page.evaluate(CUT_AMOUNTS)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 800 });
  const payouts = await view('Payouts');
  await payouts.getByRole('button', { name: 'Open large' }).click();
  await page.getByRole('heading', { name: 'large' }).waitFor();
  expect(await page.evaluate(CUT_AMOUNTS)).toEqual([]);
});

test('with forced colours, the current view, the open row and what is at risk can still be told apart', async () => {
  const { show } = await badDay(1400);
  const { page, view } = await show();
  await page.emulateMedia({ forcedColors: 'active' });
  const payouts = await view('Payouts');
  await payouts.getByRole('button', { name: `Open order-${REVERSED_LATER}` }).click();
  const backgroundOf = (selector: string): Promise<string> =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).backgroundColor);
  const current = await backgroundOf('nav [aria-current]');
  expect(current).not.toBe(await backgroundOf('nav a:not([aria-current])'));
  expect(await backgroundOf('[role=row][data-opened]')).toBe(current);
  const colours = await page
    .locator('[role=row][data-opened], [role=row][data-opened] :is(span, time, button):not(.risk)')
    .evaluateAll((elements) => elements.map((element) => getComputedStyle(element).color));
  expect(new Set(colours).size).toBe(1);
  expect(await backgroundOf('.pill.risk')).not.toBe(await backgroundOf('main section'));
  await page.emulateMedia({ forcedColors: 'none' });
});

test('on a wide page the next step is in the one row of the controls, and a list fills the window beside the opened item', async () => {
  const { payer, show } = await badDay(1280);
  const { page, view, controls } = await show();
  const next = (await controls.getByRole('button', { name: 'Go to the next step' }).boundingBox())!;
  const order = (await controls.getByRole('form', { name: 'Add a failure' }).boundingBox())!;
  expect(next.x + next.width).toBeLessThanOrEqual(order.x);
  expect(Math.abs(next.y + next.height / 2 - order.y - order.height / 2)).toBeLessThan(4);

  const payouts = await view('Payouts');
  const lost = payouts.getByRole('row').filter({ hasText: LOST });
  const created = lost.getByText('15 Jan, 16:00:00');
  expect(await created.getAttribute('title')).toBe('15 Jan 2026, 10:30:00 UTC');
  await payouts.getByRole('searchbox').fill('nobody');
  await payouts.getByText('No payout matches this search and these filters.').waitFor();
  await payouts.getByRole('button', { name: 'Show all' }).click();
  await lost.waitFor();

  await page.setViewportSize({ width: 1400, height: 900 });
  for (let nth = 0; nth < 40; nth += 1) await payer.pay({ client_ref_id: `more-${nth}` });
  await payouts.getByRole('button', { name: 'Open more-39' }).waitFor();
  const table = (await payouts.getByRole('table').boundingBox())!;
  expect(table.y + table.height).toBeGreaterThan(895);
  expect(await payouts.getByRole('row').count()).toBeGreaterThan(20);
  await payouts.getByRole('button', { name: 'Open more-20' }).click();
  const panel = (await page.getByRole('region', { name: 'more-20' }).boundingBox())!;
  expect(panel.x).toBeGreaterThan(700);
  expect(panel.y + panel.height).toBeLessThanOrEqual(900);
  expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(900); // nothing scrolls but the list
});

test('on paper, a list has all its rows, in black on white, and there is nothing to press', async () => {
  const { payer, show } = await newWorld();
  await payMany(payer, 90);
  const { page, view, controls } = await show();
  const payouts = await view('Payouts');
  await payouts.getByText('90', { exact: true }).waitFor();
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  await expect.poll(() => payouts.getByRole('row').count()).toBe(91);
  const { y, height } = (await payouts.getByRole('row').filter({ hasText: 'order-0' }).boundingBox())!;
  expect(await page.evaluate('document.documentElement.scrollHeight')).toBeGreaterThan(y + height);
  expect(await page.locator('.button, select, input').filter({ visible: true }).count()).toBe(0);
  const colours = (all: readonly Element[]) => [...new Set(all.map((one) => getComputedStyle(one).color))];
  expect(await page.locator('main *').evaluateAll(colours)).toEqual(['rgb(0, 0, 0)']);
  const added = (one: Element): string => getComputedStyle(one, '::after').content;
  const { id } = await payer.world.summary();
  expect(await controls.getByRole('heading', { level: 1 }).evaluate(added)).toContain(id.slice(0, 8));
  expect(await controls.getByRole('timer').evaluate(added)).toContain('15 Jan 2026, 16:00:00 IST');
  expect((await page.getByRole('main').boundingBox())!.x).toBe(0);
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
  await page.emulateMedia({ media: null });
  await expect.poll(() => payouts.getByRole('row').count()).toBeLessThan(60);
});

test('on a narrow page the balance leaves room for the commands, a long reference leaves the number of its request and what was paid in sight, and nothing jumps', async () => {
  const { payer, show } = await newWorld();
  const { page, view, controls } = await show(320);
  const balance = (await controls.getByText('₹10,00,000.00').boundingBox())!;
  const commands = (await controls.getByRole('button', { name: 'Commands' }).boundingBox())!;
  expect(commands.y).toBeLessThan(balance.y);

  await page.setViewportSize({ width: 360, height: 900 });
  const client_ref_id = 'salary-2026-11-employee-0000123456-bengaluru';
  await payer.pay({ client_ref_id, beneficiary_account: LOST });
  const requests = await view('Requests');
  await controls.getByRole('button', { name: '1 at risk' }).waitFor();
  await requests.getByText('paid', { exact: true }).waitFor();
  const height = async () => (await controls.boundingBox())!.height;
  const before = await height();
  for (const text of ['#1 initiate', 'paid']) {
    const box = (await requests.getByText(text, { exact: true }).boundingBox())!;
    const row = (await requests.getByRole('row').last().boundingBox())!;
    expect(box.x - row.x).toBeLessThan(20);
    expect(box.width).toBeGreaterThan(20);
    const cut = await requests.getByText(text, { exact: true }).evaluate((one) => {
      const cell = one.closest('[role=cell]')!;
      return cell.scrollWidth > cell.clientWidth;
    });
    expect(cut).toBe(false);
  }
  await payer.clock.advance('3d'); // nothing is scheduled any more
  await controls.getByText('Nothing scheduled').waitFor({ state: 'attached' });
  expect(await height()).toBe(before);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  expect(await controls.getByRole('timer').innerText()).toMatch(/^[\d:]{8} \d\d \w{3}$/);
});

test('the times below the ribbon differ, although everything happens in two seconds', async () => {
  const { payer, show } = await newWorld();
  await payer.pay();
  const seen = await show();
  const times = seen.page.locator('figure svg text > tspan:first-child');
  await times.first().waitFor();
  const shown = await times.allTextContents();
  expect(shown.length).toBeGreaterThan(5);
  expect(new Set(shown).size).toBeGreaterThan(2); // there are three seconds
});
