import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasBrowser, holdBack, live, needsBrowser, useBrowser } from '../support/browser.ts';
import { sandboxFor } from '../support/sandbox.ts';

const FROZEN = '2026-01-15T10:30:00Z'; // 16:00 IST

describe.skipIf(!hasBrowser)(`what the dashboard can do${needsBrowser}`, { timeout: 60_000 }, () => {
  const open = useBrowser();

  async function worldPage() {
    const { url, client } = await sandboxFor({ clock: FROZEN });
    const payer = client();
    const seen = await open(url, { apiKey: payer.apiKey });
    await live(seen);
    return { url, client, payer, seen, page: seen.page, section: seen.section };
  }

  /** The file that a click saves. */
  async function saved(page: Page, click: () => Promise<void>): Promise<{ name: string; text: string }> {
    const [download] = await Promise.all([page.waitForEvent('download'), click()]);
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
  }

  test('rules and outcomes are written as YAML, with completion and problems at their lines', async () => {
    const { page, payer, section } = await worldPage();
    await section('Scenario').getByRole('button', { name: 'Edit as YAML' }).click();
    const dialog = page.getByRole('dialog');
    const text = dialog.getByRole('textbox');
    await text.press('Control+a');
    await page.keyboard.type('outcomes:\n- timeline: [{ to: FAILED, after: 2s }]\n');
    await page.keyboard.press('Home');
    await page.keyboard.type('rules:\n- ef');
    await dialog.getByRole('option', { name: /^effect/, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('{ respond: 900 }');
    const problem = dialog.getByRole('list', { name: 'Problems' }).getByRole('listitem');
    await problem.filter({ hasText: 'Line 4 rules[0].effect.respond must be a status' }).waitFor();
    const use = dialog.getByRole('button', { name: 'Use for this world' });
    expect(await use.isDisabled()).toBe(true);

    await problem.getByRole('button', { name: 'Line 4' }).click(); // the cursor is before the 900
    await page.keyboard.press('Control+Delete');
    await page.keyboard.type('503');
    await problem.waitFor({ state: 'detached' });
    await use.click();
    await dialog.waitFor({ state: 'detached' });
    await section('Scenario').getByText('inline/rule-1').waitFor();
    expect((await payer.pay()).status).toBe(503);

    await section('Scenario').getByRole('button', { name: 'Add a rule' }).click();
    await text.press('Control+a');
    await page.keyboard.type('rules: [{ name: mine, effect: { respond: 418 } }]');
    await page.keyboard.press('Escape');
    await dialog.getByRole('alert').getByText('Your changes will be lost').waitFor();
    await dialog.getByRole('button', { name: 'Keep editing' }).click();
    await use.click();
    await section('Scenario').getByText('world/mine').waitFor();
    expect((await payer.pay()).status).toBe(418);
  });

  test('completion is offered for what was written before it was loaded', async () => {
    const { page, seen, section } = await worldPage();
    const load = await holdBack(seen, '**/assets/scenario.schema*');
    await section('Scenario').getByRole('button', { name: 'Add a rule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').press('Control+a');
    await page.keyboard.type('rules:\n- ef');
    load();
    const option = dialog.getByRole('option', { selected: true });
    expect(await option.textContent()).toContain('effect');
  });

  test('a world that is not loaded yet is not reset without a question', async () => {
    const { page, payer, seen, section } = await worldPage();
    await payer.pay();
    const load = await holdBack(seen, '**/_sandbox/transactions?*');
    await page.reload();
    await live(seen);
    await section('World').getByRole('button', { name: 'Reset' }).click();
    await section('World').getByText('This world would lose 1 payout and 1 request.').waitFor();
    expect(await payer.world.transactions()).toHaveLength(1);
    load();
  });

  test('a world is saved, exported, forked, reset and loaded, with a question where something is lost', async () => {
    const { client, page, payer, section } = await worldPage();
    const world = section('World');
    const button = (name: string) => world.getByRole('button', { name });
    await button('Reset').click(); // nothing is lost, so nothing is asked
    await expect.poll(() => page.getByTestId('news').textContent()).toContain('The world was reset');

    await payer.pay({ client_ref_id: 'kept', beneficiary_name: 'Rao, Asha' });
    await section('Transactions').getByRole('button', { name: 'Open kept' }).waitFor();
    const snapshot = await saved(page, () => button('Save').click());
    const archive = await saved(page, () => button('Requests (HAR)').click());
    expect(archive.name).toMatch(/^requests-[0-9a-f]{8}\.har$/);
    expect(JSON.parse(archive.text)).toMatchObject({ log: { entries: [{ response: { status: 200 } }] } });
    const table = await saved(page, () => button('Payouts (CSV)').click());
    expect(table.text).toContain(',kept,PENDING,1500.5,IMPS,"Rao, Asha",');

    const fork = client();
    await world.getByLabel('Fork to another key').fill(fork.apiKey);
    await button('Fork').click();
    await world.getByRole('button', { name: `Show ${fork.apiKey}` }).waitFor();
    expect(await fork.world.transactions()).toEqual(await payer.world.transactions());

    await button('Reset').click();
    await world.getByRole('alert').getByText('This world would lose 1 payout and 1 request.').waitFor();
    await button('Cancel').click();
    expect(await payer.world.transactions()).toHaveLength(1);
    await button('Reset').click();
    await button('Reset this world').click();
    await section('Transactions').getByText('No transactions yet').waitFor();
    await world.getByLabel('Snapshot to load').setInputFiles({
      name: snapshot.name,
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from(snapshot.text),
    });
    await section('Transactions').getByRole('button', { name: 'Open kept' }).waitFor();
  });

  test('a fork replaces the world that the question names, although another key was entered since', async () => {
    const { client, payer, seen, section } = await worldPage();
    const [one, other] = [client(), client()];
    for (const { pay } of [one, other]) await pay();
    const answer = await holdBack(seen, '**/_sandbox/requests?order=oldest*');
    const world = section('World');
    await world.getByLabel('Fork to another key').fill(one.apiKey);
    await world.getByRole('button', { name: 'Fork' }).click();
    await world.getByLabel('Fork to another key').fill(other.apiKey);
    answer();
    await world.getByText(`The world of ${one.apiKey} would lose 1 payout and 1 request.`).waitFor();
    await world.getByRole('button', { name: 'Replace it' }).click();
    await world.getByRole('button', { name: `Show ${one.apiKey}` }).waitFor();
    expect(await one.world.transactions()).toEqual(await payer.world.transactions());
    expect(await other.world.transactions()).toHaveLength(1);
  });

  test('the clock goes to a time in words, and the page says before which time that is', async () => {
    const { payer, section } = await worldPage();
    const clock = section('Clock');
    await clock.getByLabel('Advance to').fill('02:00 IST tomorrow');
    await clock.getByText('16 Jan 2026, 02:00:00 IST, in 10 h').waitFor();
    await clock.getByRole('button', { name: 'Go' }).click();
    await clock.getByRole('timer').getByText('02:00:00 IST').waitFor();
    expect((await payer.clock.now()).toISOString()).toBe('2026-01-15T20:30:00.000Z');
    await clock.getByLabel('Advance to').fill('soon');
    await clock.getByRole('button', { name: 'Go' }).click();
    await clock.getByText('Write a time such as').waitFor();
  });

  test('a payout is explained before it is made, held, and released with a failure', async () => {
    const { payer, section } = await worldPage();
    await section('Scenario').getByRole('button', { name: 'Hold after commit' }).click();
    await section('Scenario').getByText('world/hold-committed').waitFor();
    const tried = section('Try it');
    await tried.getByRole('button', { name: 'Explain' }).click();
    const explanation = tried.getByRole('status', { name: 'Explanation' });
    await explanation.getByText('The rule world/hold-committed. A payout is made: PENDING').waitFor();
    const note = explanation.getByText('has changed since');
    expect(await note.count()).toBe(0);
    await payer.world.rule({ match: { route: 'balance' }, effect: { respond: { status: 500 } } });
    await note.waitFor();
    await tried.getByRole('button', { name: 'Explain' }).click();
    await note.waitFor({ state: 'detached' });
    await tried.getByLabel('Beneficiary', { exact: true }).fill('Somebody else');
    await note.waitFor();
    expect(await payer.world.transactions()).toEqual([]);

    await tried.getByRole('button', { name: 'Pay' }).click();
    const held = section('Requests').getByRole('list', { name: 'Held requests' }).getByRole('listitem');
    await held.getByText('only the answer waits').waitFor();
    await section('Requests').getByLabel('Release with').selectOption('503');
    await held.getByRole('button', { name: 'Release' }).click();
    await tried.getByText(/^503 after/).waitFor();
    expect(await payer.world.transactions()).toHaveLength(1);
  });
});
