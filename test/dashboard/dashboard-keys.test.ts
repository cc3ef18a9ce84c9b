import { expect, test } from 'vitest';
import { FROZEN, loaded, REVERSED_LATER, useWorldPage } from '../support/browser.ts';

const { newWorld } = useWorldPage();

async function worldPage() {
  const { client, payer, show: showWorld } = await newWorld();
  const show = async () => {
    const seen = await showWorld();
    const { keyboard } = seen.page;
    const type = async (words: string): Promise<void> => {
      await keyboard.press('Control+k');
      await seen.page.getByRole('combobox', { name: 'Command' }).and(seen.page.locator(':focus')).waitFor();
      await keyboard.type(words);
      await seen.page.getByRole('dialog').getByRole('option', { selected: true }).waitFor(); // what Enter will do
      await keyboard.press('Enter');
    };
    return { ...seen, keyboard, type };
  };
  return { client, payer, show };
}

test('an action keeps the focus, also one from the palette: Enter three times advances by three days', async () => {
  const { payer, show } = await worldPage();
  const { controls, keyboard, page, type } = await show();
  const focused = () => page.evaluate('document.activeElement.textContent');
  await controls.getByRole('button', { name: '+1 day' }).focus();
  for (const day of ['16', '17', '18']) {
    await keyboard.press('Enter');
    await controls.getByRole('timer').getByText(`${day} Jan`).waitFor();
    await controls.getByRole('button', { name: '+1 day', disabled: false }).waitFor();
  }
  expect(await focused()).toBe('+1 day');
  expect((await payer.clock.now()).toISOString()).toBe('2026-01-18T10:30:00.000Z');
  await type('advance 1h');
  expect(await focused()).toBe('+1 day'); // at once: the next key is meant for it
  await controls.getByRole('timer').getByText('17:00:00').waitFor();

  const remove = controls.getByRole('button', { name: /^Remove/ });
  for (const count of [1, 2]) {
    await controls.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => remove.count()).toBe(count);
  }
  await remove.first().focus();
  await keyboard.press('Enter'); // a button that disappears leaves the focus in its place
  await expect.poll(() => remove.count()).toBe(1);
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Added rules');
  await keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.ariaLabel')).toMatch(/^Remove/);

  // a palette that is opened as another one closes stays open
  const isOpen = await page.evaluate(`(async () => {
      const press = (key, ctrlKey) => {
        const event = new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true, cancelable: true });
        document.activeElement.dispatchEvent(event);
        return new Promise(queueMicrotask); // the dashboard renders in one, before the browser says that a dialog was closed
      };
      for (const [key, ctrlKey] of [['k', true], ['Escape', false], ['k', true]]) await press(key, ctrlKey);
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
      return document.querySelector('dialog')?.open === true;
    })()`);
  expect(isOpen).toBe(true);
});

test('a bad day is found, read and ended with keys alone', async () => {
  const { payer, show } = await worldPage();
  const { page, keyboard, type, said, controls } = await show();
  await type('next initiate 500 after payout');
  await said.getByText('Added: the next initiate gets a 500 after the payout').waitFor();
  expect((await payer.pay({ client_ref_id: 'lost' })).status).toBe(500);
  await payer.pay({ client_ref_id: 'fine' });
  await type('risk');
  await page.getByRole('button', { name: 'Open lost' }).waitFor();
  expect(await page.getByRole('button', { name: 'Open fine' }).count()).toBe(0);
  await keyboard.press('j');
  await keyboard.press('Enter');
  const panel = page.getByRole('region', { name: 'lost' });
  await panel.getByText('no response has told the client').waitFor();
  await page.getByRole('heading', { name: 'lost', level: 2 }).and(page.locator(':focus')).waitFor();
  await page.getByRole('heading', { name: 'lost', level: 2 }).focus();
  await keyboard.press('Escape');
  await page.locator('[role=row] button:focus', { hasText: 'lost' }).waitFor(); // the focus is back in the list
  const speed = controls.getByLabel('Speed of the clock');
  await keyboard.press('f');
  await expect.poll(() => speed.inputValue()).toBe('1');
  await speed.selectOption('3,600×');
  await expect.poll(async () => (await payer.clock.read()).speed).toBe(3600);
  await page.getByRole('main').focus();
  await keyboard.press('f');
  await expect.poll(() => speed.inputValue()).toBe('0');
  await keyboard.press('?');
  await page.getByLabel('Single keys act').click();
  await keyboard.press('Escape');
  await keyboard.press('2'); // switched off
  await keyboard.press('f');
  await type('back to normal');
  await controls.getByTestId('ordered').waitFor({ state: 'detached' });
});

test('a list is sorted by any column with keys alone, and its address keeps the order', async () => {
  const { payer, show } = await worldPage();
  for (const [nth, amount] of [300, 100, 200].entries())
    await payer.pay({ client_ref_id: `order-${nth}`, amount });
  const seen = await show();
  const { page, keyboard } = seen;
  await keyboard.press('2');
  const payouts = page.locator('main section');
  const amounts = async (): Promise<string> =>
    (await payouts.getByRole('cell').filter({ hasText: '₹' }).allTextContents()).join(' ');
  const header = payouts.getByRole('columnheader', { name: 'Amount' });
  await expect.poll(amounts).toBe('₹200.00 ₹100.00 ₹300.00'); // newest first
  await header.getByRole('button').focus();
  await keyboard.press('Enter');
  await expect.poll(amounts).toBe('₹100.00 ₹200.00 ₹300.00');
  await keyboard.press('Enter'); // the column still has the focus
  await expect.poll(amounts).toBe('₹300.00 ₹200.00 ₹100.00');
  expect(await header.getAttribute('aria-sort')).toBe('descending');
  await expect.poll(() => page.url()).toContain('payouts.sort='); // an address is written half a second later
  await page.reload();
  await loaded(seen);
  await expect.poll(amounts).toBe('₹300.00 ₹200.00 ₹100.00');
});

test('the palette pays, advances and opens in words, and says what it does not understand', async () => {
  const { payer, show } = await worldPage();
  const { page, type, said, keyboard } = await show();
  await type(`pay 5000 to ${REVERSED_LATER}`);
  await said.getByText(/₹5,000.00: 200/).waitFor();
  await type('advance 3d');
  await said.getByText('It is 18 Jan 2026').waitFor();
  expect(await payer.world.transactions()).toMatchObject([{ amount: 5000, status: 'REVERSED' }]);
  await type('open try-');
  await page.getByRole('region', { name: /^try-/ }).waitFor();
  await payer.pay({ client_ref_id: 'twin' });
  await payer.pay({ client_ref_id: 'twin-again' });
  await type('open twin'); // the newer one contains it too
  await page.getByRole('region', { name: 'twin', exact: true }).waitFor();
  await type('open #1');
  await page.getByRole('region', { name: 'Request 1' }).waitFor();
  await keyboard.press('Control+k');
  await page.getByRole('combobox').and(page.locator(':focus')).waitFor();
  await keyboard.type('pay 1500,50');
  await page.getByRole('option').getByText('is not an amount').waitFor();
  await keyboard.press('Enter'); // changes no words
  const words = page.getByLabel('Command', { exact: true });
  expect(await words.inputValue()).toBe('pay 1500,50');
  await words.fill('timeout');
  const best = page.getByRole('dialog').getByRole('option').first();
  await best.getByText('The next initiate times out after the payout').waitFor();
  await words.fill('pay 10 000'); // not ₹10 to the account 000
  await page.getByRole('option').getByText('“10 000” is not an amount').waitFor();
  let showSummary = (): void => undefined;
  const held = new Promise<void>((resolve) => (showSummary = resolve));
  await page.route('**/_sandbox/world', (route) => held.then(() => route.continue()));
  await words.fill('advance 99999d');
  await keyboard.press('Enter');
  await said.getByText('2299, ').waitFor();
  await type('undo'); // means this advance, although the page has not read of it yet
  await said.getByText('Taken back: “advance”.').waitFor();
  showSummary();
  await keyboard.press('Control+k');
  await page.getByRole('combobox').and(page.locator(':focus')).waitFor();
  await keyboard.press('Escape');
  await page.getByRole('combobox').and(page.locator(':focus')).waitFor({ state: 'hidden' });
  await keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).getByText('commands, in words').waitFor();
  await keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' });
  await keyboard.press('2');
  for (const key of ['/', 'Escape', '/']) await keyboard.press(key); // Escape leaves an empty field
  await page.getByRole('searchbox').and(page.locator(':focus')).waitFor();
  await keyboard.type('twin-again');
  await keyboard.press('Enter'); // opens the first match
  await page.getByRole('region', { name: 'twin-again' }).waitFor();
  expect(await payer.world.transactions()).toHaveLength(3);
  await type('pay 10 to Asha@OKAXIS');
  await said.getByText(/₹10.00: 200/).waitFor();
  expect((await payer.world.transactions())[3]!.beneficiary_account).toBe('Asha@OKAXIS');
  await type('debit 500');
  await said.getByText('₹500.00 debited: the balance is').waitFor();
  await type('use rate-limited');
  await said.getByText('The scenario is rate-limited.').waitFor();
  const saved = page.waitForEvent('download');
  await type('export csv');
  await saved;
  await type('hang');
  await said.getByText('Added: the next initiate times out after the payout').waitFor();
  await type('2h');
  await said.getByText('It is 18 Jan 2026').waitFor();
  await type('reset');
  await page.getByRole('button', { name: 'Reset this world' }).and(page.locator(':focus')).waitFor();
  await keyboard.press('Enter');
  await said.getByText('The world was reset.').waitFor();
  expect(await payer.world.transactions()).toEqual([]);
});

test('the ribbon shows the future without changing the world, by keys and dragged, until it is kept', async () => {
  const { payer, show } = await worldPage();
  await payer.pay({ client_ref_id: 'later', beneficiary_account: REVERSED_LATER, amount: 5000 });
  const { page, keyboard, said } = await show();
  const now = page.getByRole('slider', { name: /^Now/ });
  await keyboard.press('1'); // into the view: now
  await keyboard.press('Tab');
  await now.and(page.locator(':focus')).waitFor();
  await keyboard.press('ArrowRight');
  const preview = page.getByRole('status', { name: 'Preview' });
  await preview.getByText('1 SUCCESS').waitFor();
  await keyboard.press('ArrowRight');
  await preview.getByText('1 REVERSED; balance ₹10,00,000.00').waitFor();
  expect((await payer.world.transactions())[0]!.status).toBe('PENDING');
  await payer.world.fund(500); // by somebody else: the future is another one
  await preview.getByText('1 REVERSED; balance ₹10,00,500.00').waitFor();
  await payer.world.withdraw(500);
  for (let nth = 0; nth < 3; nth += 1) await keyboard.press('ArrowRight'); // to the end of the ribbon, no further
  const end = await now.getAttribute('aria-valuetext');
  await keyboard.press('ArrowRight');
  expect(await now.getAttribute('aria-valuetext')).toBe(end);
  expect(await now.getAttribute('aria-valuenow')).toBe(await now.getAttribute('aria-valuemax'));
  await keyboard.press('Escape');
  await preview.waitFor({ state: 'detached' });

  await keyboard.press('ArrowRight');
  await preview.getByText('1 SUCCESS').waitFor();
  await keyboard.press('ArrowLeft'); // back to now, which is no advance
  await keyboard.press('Enter');
  await preview.waitFor({ state: 'detached' });

  const { x, y } = (await now.boundingBox())!;
  await page.mouse.move(x + 12, y + 20);
  await page.mouse.down();
  await page.mouse.move(x + 40, y + 20);
  await preview.getByText('balance').waitFor();
  await keyboard.press('Escape');
  await page.mouse.move(x + 60, y + 20); // the button is still down
  await preview.waitFor({ state: 'detached' });
  await page.mouse.up();
  expect((await payer.clock.now()).toISOString()).toBe(new Date(FROZEN).toISOString());
  await page.mouse.move(x + 12, y + 20);
  await page.mouse.down();
  await page.mouse.move(x + 1200, y + 20); // to the end of the ribbon
  await preview.getByText('1 REVERSED').waitFor();
  await page.mouse.up(); // which advances nothing
  expect((await payer.world.transactions())[0]!.status).toBe('PENDING');
  await page.getByRole('button', { name: 'Advance', exact: true }).click();
  await said.getByText('later SUCCESS, later REVERSED').waitFor();
  expect(await said.getByText('no change').count()).toBe(0);
  expect((await payer.world.transactions())[0]!.status).toBe('REVERSED');
});

test('“Break my client” adds nine failures, one for each new payout, and keeps the score', async () => {
  const { payer, show } = await worldPage();
  const { page, view, said } = await show();
  const conduct = await view('Conduct');
  await conduct.getByRole('button', { name: 'Break my client' }).click();
  await said.getByText('Nine failures are added').waitFor(); // the first of them is put last
  await said.getByRole('button', { name: 'Undo' }).click();
  await said.getByText('Taken back: “Nine failures are added').waitFor();
  expect(await payer.world.rules('world')).toEqual([]);
  await conduct.getByRole('button', { name: 'Break my client' }).click();
  await said.getByText('Nine failures are added').waitFor();
  const row = (text: string) =>
    conduct.getByRole('list', { name: 'Scorecard' }).getByRole('listitem').filter({ hasText: text });
  const paid = row('gets a 500 after the payout');
  await paid.getByText('waiting').waitFor();
  const statuses = [];
  for (const nth of [1, 2, 3]) statuses.push((await payer.pay({ client_ref_id: `order-${nth}` })).status);
  expect(statuses).toEqual([429, 500, 500]);
  await paid.getByText('open').waitFor();
  await payer.status({ client_ref_id: 'order-3' });
  await paid.getByText('survived').waitFor();
  await paid.getByRole('button', { name: 'Request #3' }).waitFor();
  await conduct.getByRole('button', { name: 'Start again' }).click();
  await paid.getByText('waiting').waitFor();
  const first = async () => (await payer.world.rules('world'))[0];
  await expect.poll(first).toMatchObject({ name: 'break-get-429', taken: 0 }); // the nine are added one by one
  expect((await payer.pay({ client_ref_id: 'order-4' })).status).toBe(429);
  await row('gets a 429').getByText('open').waitFor();
  await conduct.getByRole('button', { name: 'Stop' }).click();
  await row('gets a 429').getByText('survived').waitFor(); // it has given up, which is right
  await conduct.getByText(/1 of 1 survived$/).waitFor(); // the failures that it did not meet are gone
  expect(await payer.world.rules('world')).toMatchObject([{ name: 'break-get-429' }]);
  await page.reload();
  await conduct.getByText('0 of 1 survived so far').waitFor(); // nobody knows any more that it has ended
  await conduct.getByRole('button', { name: 'Stop' }).click();
  await said.getByText('The client has ended.', { exact: true }).waitFor(); // no failure was left
});

test('“Show me a bad day” makes one', async () => {
  const { payer, show } = await worldPage();
  const { controls, page, view } = await show();
  const overview = await view('Overview');
  await overview.getByRole('button', { name: 'Show me a bad day' }).click();
  await controls.getByRole('button', { name: /^3 at risk/ }).waitFor();
  await page.getByRole('list', { name: 'Payouts at risk' }).getByText('salary-4', { exact: true }).waitFor();
  expect((await payer.world.summary()).at_risk.count).toBe(3);
});
