import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { FROZEN, holdBack, live, LOST, useWorldPage } from '../support/browser.ts';

const { shownWorld } = useWorldPage();

/** The file that a click saves. */
async function saved(page: Page, click: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

test('rules and outcomes are written as YAML, with problems at their lines', async () => {
  const { page, payer, view } = await shownWorld();
  const scenario = await view('Scenario');
  await scenario.getByRole('button', { name: 'Edit as YAML' }).click();
  const editor = scenario.getByRole('textbox', { name: 'The scenario as YAML' });
  const write = async (all: string): Promise<void> => {
    await editor.press('Control+a');
    await page.keyboard.insertText(all);
  };
  const outcome = "{ name: morning, timeline: [{ to: SUCCESS, at: '08:30' }] }";
  await write(`rules:\n- name: mine\n  effect: { respond: 900 }\noutcomes: [${outcome}]`);
  const problem = scenario.getByRole('list', { name: 'Problems' }).getByRole('listitem');
  await problem.filter({ hasText: 'Line 3 rules[0].effect.respond must be a status' }).waitFor();
  const use = scenario.getByRole('button', { name: 'Use for this world' });
  expect(await use.isDisabled()).toBe(true);
  await problem.getByRole('button', { name: 'Line 3' }).click(); // the cursor is before the 900
  await page.keyboard.press('Control+Delete');
  await page.keyboard.type('503');
  await problem.waitFor({ state: 'detached' });
  await view('Payouts');
  await view('Scenario'); // the text is still there
  await use.click();
  await editor.waitFor({ state: 'detached' });
  await scenario.getByText('inline/mine').waitFor();
  const outcomes = scenario.getByRole('listitem').filter({ hasText: 'inline/morning' });
  await outcomes.getByText('08:30').waitFor();
  expect((await payer.pay()).status).toBe(503);

  await scenario.getByRole('button', { name: 'Edit as YAML' }).click();
  await expect.poll(() => editor.inputValue()).toContain('at: "08:30"'); // without quotes, YAML 1.1 reads a number
  await scenario.getByRole('button', { name: 'Discard' }).click();
  await editor.waitFor({ state: 'detached' });
});

test('a world that is not loaded yet shows neither sums nor an empty list, and nothing can be done with it', async () => {
  const { page, payer, seen, view, controls } = await shownWorld();
  await payer.pay();
  const load = await holdBack(seen, '**/_sandbox/transactions?*');
  await page.reload();
  await live(seen);
  const payouts = await view('Payouts');
  await payouts.getByText('Loading').waitFor();
  const overview = await view('Overview');
  await overview.getByText('Loading').waitFor();
  const text = await page.locator('body').textContent();
  for (const never of [
    '₹0.00',
    'No payouts yet',
    'No requests yet',
    'Nothing scheduled',
    'Live',
    'real time',
  ]) {
    expect(text).not.toContain(never);
  }
  const world = await view('World');
  expect(await world.getByRole('button', { name: 'Reset' }).getAttribute('title')).toBe(
    'The world is not loaded yet',
  );
  load();
  await controls.getByText('Live').waitFor();
});

test('a world is saved, exported, reset and loaded, with a question where something is lost', async () => {
  const { page, payer, view, said, controls } = await shownWorld();
  await payer.pay({ client_ref_id: 'kept', beneficiary_name: 'Rao, Asha', beneficiary_account: LOST });
  await controls.getByRole('button', { name: '1 at risk · ₹1,500.50' }).waitFor();
  const world = await view('World');
  const button = (name: string) => world.getByRole('button', { name });
  const snapshot = await saved(page, () => button('Save').click());
  const table = await saved(page, () => button('Payouts (CSV)').click());
  expect(table.text).toMatch(/,kept,PENDING,1500.5,IMPS,"Rao, Asha",.*,true,\r\n/); // at risk, and told nothing

  await view('World');
  await button('Reset').click();
  await world
    .getByRole('alert')
    .getByText('This world has payouts (1 PENDING) and requests, which this replaces.')
    .waitFor();
  await button('Cancel').click();
  expect(await payer.world.transactions()).toHaveLength(1);
  await button('Reset').click();
  await world.getByRole('alert').waitFor();
  await payer.pay(); // by somebody else
  await world.getByRole('alert').getByText('This world has payouts (2 PENDING)').waitFor();
  await button('Reset this world').click();
  await said.getByText('The world was reset.').waitFor();
  expect(await payer.world.transactions()).toHaveLength(0);
  expect(await said.getByText('by another client').count()).toBe(0);
  await said.getByRole('button', { name: 'Undo' }).click();
  await said.getByText('Taken back: “The world was reset”.').waitFor();
  expect(await payer.world.transactions()).toHaveLength(2);
  await controls.getByRole('button', { name: '1 at risk · ₹1,500.50' }).waitFor(); // the page knows what a load would replace

  const file = (text: string) => ({
    name: snapshot.name,
    mimeType: 'application/x-ndjson',
    buffer: Buffer.from(text),
  });
  const load = async (text: string): Promise<void> => {
    await world.getByLabel('Snapshot to load').setInputFiles(file(text));
    await button('Load the snapshot').click();
  };
  await load('{"no":"snapshot"}');
  await world.getByRole('alert').getByText('snapshot').waitFor();
  await load(snapshot.text);
  await said.getByText(`${snapshot.name} is loaded.`).waitFor();
});

test('the clock goes to a time as the sandbox reads it, and can be taken back, as only what was done last can be', async () => {
  const { payer, page, controls, said } = await shownWorld();
  const field = controls.getByLabel('Advance to');
  const go = controls.getByRole('button', { name: 'Go', exact: true });
  await field.fill('2026-01-16 02:00 IST');
  await go.click();
  await controls.getByRole('timer').getByText('02:00:00 IST').waitFor();
  expect((await payer.clock.now()).toISOString()).toBe('2026-01-15T20:30:00.000Z');
  await said.getByRole('button', { name: 'Undo' }).click();
  await controls.getByRole('timer').getByText('16:00:00 IST').waitFor();
  expect((await payer.clock.now()).toISOString()).toBe(new Date(FROZEN).toISOString());

  await field.fill('soon');
  await go.click();
  const why = controls.getByText('write a duration such as 2h 30m, a time such as 2026-12-01 09:00, or idle');
  await why.waitFor();
  expect(await field.inputValue()).toBe('soon');
  await field.fill('');
  await why.waitFor({ state: 'detached' });

  const undo = said.getByRole('button', { name: 'Undo', exact: true });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('back to normal');
  await page.keyboard.press('Enter');
  await said.getByText('Back to normal.').waitFor();
  expect(await undo.count()).toBe(0); // nothing was done
  await controls.getByRole('button', { name: '+1 h', exact: true }).click();
  await said.getByText('It is 15 Jan 2026').waitFor();
  await controls.getByRole('button', { name: 'Add', exact: true }).click();
  await said.getByText('Added: the next initiate').waitFor();
  expect(await undo.count()).toBe(1);
  for (const client_ref_id of ['one', 'two']) await payer.pay({ client_ref_id });
  await undo.click();
  await said
    .getByText(/The client has sent 2 requests since the last action \(rule\): #1 .* two\.$/)
    .waitFor();
  await payer.pay({ client_ref_id: 'three' });
  const force = said.getByRole('button', { name: 'Undo these too' });
  await force.click(); // which did not name the third
  await said.getByText(/The client has sent 3 requests since .* three\.$/).waitFor();
  expect(await payer.world.transactions()).toHaveLength(3);
  await force.click();
  await said.getByText('Taken back: “Added: the next initiate').waitFor();
  expect(await payer.world.rules('world')).toEqual([]);
  expect(await payer.world.transactions()).toEqual([]);
  expect(await payer.clock.now()).toEqual(new Date(Date.parse(FROZEN) + 3_600_000));
});

test('a payout is held, which every view says, and released with a failure', async () => {
  const { payer, page, controls, form } = await shownWorld();
  await payer.world.rule({ name: 'hold', match: { route: 'initiate' }, effect: { hold: 'committed' } });
  await page.keyboard.press('p');
  await form.getByLabel('Amount').fill('1500,50');
  await form.getByText('“1500,50” is not an amount').waitFor();
  expect(await form.getByRole('button', { name: 'Send payout' }).isDisabled()).toBe(true);
  await form.getByLabel('Amount').fill('1,00,000');
  await form.getByText('₹1,00,000.00').waitFor();
  await form.getByRole('button', { name: 'Send payout' }).click();
  await controls.getByRole('link', { name: /^1 held, until \d\d:\d\d:\d\d real time$/ }).click();
  const requests = page.locator('main section');
  const held = requests.getByRole('list', { name: 'Held requests' }).getByRole('listitem');
  await held.getByText('only the response waits').waitFor();
  await requests.getByLabel('Release with').selectOption('503');
  await held.getByRole('button', { name: 'Release' }).click();
  await form.getByText(/^503 after/).waitFor();
  expect(await payer.world.transactions()).toHaveLength(1);
});

test('a refused reference is found from every search, its requests are linked, ids are copied, and text in a row can be selected', async () => {
  const { payer, page, view, said, controls } = await shownWorld();
  await payer.pay({ client_ref_id: 'paid-1' });
  await payer.pay({ client_ref_id: 'paid-1' });
  await payer.pay({ client_ref_id: 'too-large', amount: 10_000_000 });
  const payouts = await view('Payouts');
  await payouts.getByRole('searchbox').fill('too-large');
  await payouts.getByRole('button', { name: 'Show the requests that have it' }).click();
  await page.getByRole('button', { name: 'Open request 3, initiate too-large' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Command' }).fill('too-large');
  await page.getByRole('option', { name: 'Requests of too-large' }).waitFor();
  await page.keyboard.press('Escape');
  await page.evaluate(`location.hash = '#requests?request=2'`);
  await page.getByRole('region', { name: 'Request 2' }).getByRole('button', { name: 'Request #1' }).click();
  const request = page.getByRole('region', { name: 'Request 1' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await request.getByRole('button', { name: 'Copy Payout' }).click();
  const { txn_id: id } = await payer.world.payout('paid-1');
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(id);
  await request.getByRole('button', { name: 'Close' }).click();

  await view('Payouts');
  await payouts.getByRole('searchbox').fill('');
  const amount = (await payouts.getByRole('row').getByText('₹1,500.50').boundingBox())!;
  await page.mouse.move(amount.x, amount.y + 5);
  await page.mouse.down();
  await page.mouse.move(amount.x + amount.width, amount.y + 5);
  await page.mouse.up();
  expect(await page.evaluate('getSelection().toString()')).toContain('1,500');
  expect(await page.getByRole('region', { name: 'paid-1' }).count()).toBe(0);

  const day = controls.getByRole('button', { name: '+1 day' });
  await day.click();
  await said.getByRole('button', { name: 'Dismiss' }).click();
  await day.and(page.locator(':focus')).waitFor(); // the focus is back where it came from
});
