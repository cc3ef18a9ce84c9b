import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { FROZEN, holdBack, live, loaded, LOST, useWorldPage } from '../support/browser.ts';
import { sandboxFor } from '../support/sandbox.ts';

const { open, shownWorld } = useWorldPage();

/** The file that a click saves. */
async function saved(page: Page, click: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

test('rules and outcomes are written as YAML, with problems at their lines', async () => {
  const { page, payer, view } = await shownWorld();
  const scenario = await view('Scenario');
  await scenario.getByRole('button', { name: 'Edit as YAML' }).click();
  const dialog = page.getByRole('dialog');
  const text = dialog.getByRole('textbox');
  const write = async (all: string): Promise<void> => {
    await text.press('Control+a');
    await page.keyboard.insertText(all);
  };
  const outcome = "{ name: morning, timeline: [{ to: SUCCESS, at: '08:30' }] }";
  await write(`rules:\n- name: mine\n  effect: { respond: 900 }\noutcomes: [${outcome}]`);
  const problem = dialog.getByRole('list', { name: 'Problems' }).getByRole('listitem');
  await problem.filter({ hasText: 'Line 3 rules[0].effect.respond must be a status' }).waitFor();
  const use = dialog.getByRole('button', { name: 'Use for this world' });
  expect(await use.isDisabled()).toBe(true);
  await problem.getByRole('button', { name: 'Line 3' }).click(); // the cursor is before the 900
  await page.keyboard.press('Control+Delete');
  await page.keyboard.type('503');
  await problem.waitFor({ state: 'detached' });
  await use.click();
  await dialog.waitFor({ state: 'detached' });
  await scenario.getByText('inline/mine').waitFor();
  const outcomes = scenario.getByRole('listitem').filter({ hasText: 'inline/morning' });
  await outcomes.getByText('SUCCESS at 08:30').waitFor();
  expect((await payer.pay()).status).toBe(503);

  await scenario.getByRole('button', { name: 'Edit as YAML' }).click();
  await expect.poll(() => text.inputValue()).toContain('at: "08:30"'); // without quotes, YAML 1.1 reads a number
  await payer.world.use('rate-limited'); // by somebody else
  await dialog.getByRole('alert').getByText('Another client has changed this').waitFor();
  await dialog.getByRole('heading', { name: 'Scenario inline', exact: true }).waitFor(); // the title of the text
  await dialog.getByRole('button', { name: 'Close' }).click();
  await payer.world.use(null);

  await scenario.getByRole('button', { name: 'Add a rule' }).click();
  await write('rules: [{ name: mine, effect: { respond: 418 } }]');
  await dialog.getByText('No problems').waitFor();
  await page.keyboard.press('Escape');
  await dialog.getByRole('alert').getByText('Your changes will be lost').waitFor();
  await dialog.getByRole('button', { name: 'Keep editing' }).click();
  expect(await dialog.getByText('Another client has changed this').count()).toBe(0);
  await payer.world.rule({ name: 'theirs', effect: { respond: 500 } });
  await dialog.getByRole('alert').getByText('Another client has changed this').waitFor();
  await use.click();
  await scenario.getByText('world/mine').waitFor();
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Edit overrides'); // the focus is back
  expect((await payer.pay()).status).toBe(418);
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
    'running',
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

test('a world is saved, exported, forked, reset and loaded, with a question where something is lost', async () => {
  const { client, page, payer, seen, view, said, controls } = await shownWorld();
  await payer.pay({ client_ref_id: 'kept', beneficiary_name: 'Rao, Asha', beneficiary_account: LOST });
  await controls.getByRole('button', { name: '1 at risk · ₹1,500.50' }).waitFor();
  const world = await view('World');
  const button = (name: string) => world.getByRole('button', { name });
  const snapshot = await saved(page, () => button('Save').click());
  const table = await saved(page, () => button('Payouts (CSV)').click());
  expect(table.text).toContain(',kept,PENDING,1500.5,IMPS,"Rao, Asha",');

  const fork = client();
  await world.getByLabel('Key of the fork').fill(fork.apiKey);
  await button('Fork').click();
  await world.getByRole('button', { name: `Show ${fork.apiKey}` }).click();
  await controls.getByRole('button', { name: '1 at risk · ₹1,500.50' }).waitFor(); // a fork of a bad day is a bad day
  await (await view('Requests')).getByText('#1 initiate').waitFor();
  await page.goBack();
  await page.evaluate(`location.hash = 'key=${payer.apiKey}'`);
  await page.getByRole('button', { name: 'Open the world of the link' }).click();

  await view('World');
  await button('Reset').click();
  await world
    .getByRole('alert')
    .getByText('This world has 1 payout and 1 request, which this replaces.')
    .waitFor();
  await button('Cancel').click();
  expect(await payer.world.transactions()).toHaveLength(1);
  await button('Reset').click();
  await world.getByRole('alert').waitFor();
  await payer.pay(); // by somebody else
  await world.getByRole('alert').getByText('This world has 2 payouts and 2 requests').waitFor();
  await payer.world.reset();
  await world.getByRole('alert').waitFor({ state: 'detached' }); // there is nothing left to lose
  await payer.world.restore(snapshot.text);
  await button('Reset').click();
  await button('Reset this world').click();
  await said.getByText('The world was reset.').waitFor();
  expect(await payer.world.transactions()).toHaveLength(0);
  expect(await said.getByText('by another client').count()).toBe(0);
  const readLate = await holdBack(seen, '**/_sandbox/scenarios');
  await said.getByRole('button', { name: 'Undo' }).click();
  await said.getByText('Taken back: reset').waitFor();
  expect(await payer.world.transactions()).toHaveLength(1);

  const file = (text: string) => ({
    name: snapshot.name,
    mimeType: 'application/x-ndjson',
    buffer: Buffer.from(text),
  });
  await world.getByLabel('Snapshot to load').setInputFiles(file('{"no":"snapshot"}'));
  await world
    .getByRole('alert')
    .getByText(/snapshot/i)
    .waitFor();
  expect(await button('Load the snapshot').count()).toBe(0); // nothing is asked for a file that cannot be loaded
  await world.getByLabel('Snapshot to load').setInputFiles(file(snapshot.text));
  await button('Load the snapshot').waitFor();
  const askedAgain = page.waitForResponse('**/_sandbox/requests?limit=1');
  readLate();
  await askedAgain; // the world was read again because of the undo, and the question is still true
  await button('Load the snapshot').click();
  await said.getByText(`${snapshot.name} is loaded.`).waitFor();
});

test('a snapshot can be loaded where only some keys are accepted', async () => {
  const { url, client } = await sandboxFor({ clock: FROZEN, apiKeys: 'sk_test_listed' });
  const payer = client('sk_test_listed');
  await payer.pay();
  const buffer = Buffer.from(await payer.world.snapshot());
  await payer.world.reset();
  const seen = await open(url, { apiKey: payer.apiKey });
  await loaded(seen);
  const world = await seen.view('World');
  const file = { name: 'saved.ndjson', mimeType: 'application/x-ndjson', buffer };
  await world.getByLabel('Snapshot to load').setInputFiles(file);
  await seen.page.getByLabel('What happened').getByText('saved.ndjson is loaded.').waitFor();
  expect(await payer.world.transactions()).toHaveLength(1);
});

test('a fork replaces the world that the question names, although another key was entered since', async () => {
  const { client, payer, seen, view } = await shownWorld();
  const [one, other] = [client(), client()];
  for (const { pay } of [one, other]) await pay();
  const world = await view('World');
  await world.getByLabel('Key of the fork').fill(payer.apiKey);
  await world.getByRole('button', { name: 'Fork' }).click();
  const refusal = world.getByText('This is the key of this world: enter another one.');
  await refusal.waitFor();
  const answer = await holdBack(seen, '**/_sandbox/requests?limit=1');
  await world.getByLabel('Key of the fork').fill(one.apiKey);
  await refusal.waitFor({ state: 'detached' }); // it was about another key
  await world.getByRole('button', { name: 'Fork' }).click();
  await world.getByLabel('Key of the fork').fill(other.apiKey);
  answer();
  await world
    .getByText(`The world of ${one.apiKey} has 1 payout and 1 request, which this replaces.`)
    .waitFor();
  await one.pay({ client_ref_id: 'meanwhile' });
  await world.getByText(`The world of ${one.apiKey} has 2 payouts and 2 requests`).waitFor();
  await world.getByRole('button', { name: 'Replace it' }).click();
  await world.getByRole('button', { name: `Show ${one.apiKey}` }).waitFor();
  expect(await one.world.transactions()).toEqual(await payer.world.transactions());
  expect(await other.world.transactions()).toHaveLength(1);
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
  await controls.getByText('by must be a duration').waitFor();

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
  await said.getByText('Taken back: rule.').waitFor();
  expect(await payer.world.rules('world')).toEqual([]);
  expect(await payer.world.transactions()).toEqual([]);
  expect(await payer.clock.now()).toEqual(new Date(Date.parse(FROZEN) + 3_600_000));
});

test('a payout is explained before it is made, held, and released with a failure', async () => {
  const { payer, page, view, controls, form } = await shownWorld();
  await payer.world.rule({ name: 'hold', match: { route: 'initiate' }, effect: { hold: 'committed' } });
  await controls.getByText('every initiate is held after the payout').waitFor();
  await page.keyboard.press('p');
  await form.getByRole('button', { name: 'Explain' }).click();
  const explanation = form.getByRole('status', { name: 'Explanation' });
  await explanation.getByText('The rule world/hold. A payout is made: PENDING').waitFor();
  const note = explanation.getByText('has changed since');
  expect(await note.count()).toBe(0);
  await payer.world.rule({ match: { route: 'balance' }, effect: { respond: { status: 500 } } });
  await note.waitFor();
  await form.getByRole('button', { name: 'Explain' }).click();
  await note.waitFor({ state: 'detached' });
  await form.getByLabel('Beneficiary', { exact: true }).fill('Somebody else');
  await note.waitFor();
  expect(await payer.world.transactions()).toEqual([]);

  await form.getByLabel('Amount').fill('1500,50');
  await form.getByText('“1500,50” is not an amount').waitFor();
  expect(await form.getByRole('button', { name: 'Send payout' }).isDisabled()).toBe(true);
  await form.getByLabel('Amount').fill('1,00,000');
  await form.getByText('₹1,00,000.00').waitFor();
  await form.getByRole('button', { name: 'Send payout' }).click();
  const requests = await view('Requests');
  const held = requests.getByRole('list', { name: 'Held requests' }).getByRole('listitem');
  await held.getByText('only the response waits').waitFor();
  await requests.getByLabel('Release with').selectOption('503');
  await held.getByRole('button', { name: 'Release' }).click();
  await form.getByText(/^503 after/).waitFor();
  expect(await payer.world.transactions()).toHaveLength(1);

  const reference = form.locator('[name=client_ref_id]');
  await form.getByText('Reference, IFSC, remarks').click();
  await reference.fill('r'.repeat(129));
  await form.getByRole('button', { name: 'Send payout' }).click();
  await form.getByText('at most 128 characters', { exact: false }).first().waitFor();
  expect(await reference.inputValue()).toBe('r'.repeat(129)); // to be corrected
  await reference.press('End');
  await reference.press('Backspace');
  await reference.press('Backspace'); // the fields stay open
  await form.locator('.field-error').waitFor({ state: 'detached' });
  expect(await reference.inputValue()).toBe('r'.repeat(127));
  expect(await reference.isVisible()).toBe(true);
});
