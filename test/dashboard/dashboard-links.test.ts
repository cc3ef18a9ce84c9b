import { describe, expect, test } from 'vitest';
import type { TransactionAnswer } from '../../src/contract/control-answers.ts';
import { hasBrowser, holdBack, live, loaded, needsBrowser, useBrowser } from '../support/browser.ts';
import { sandboxFor } from '../support/sandbox.ts';

describe.skipIf(!hasBrowser)(`links to what the dashboard shows${needsBrowser}`, { timeout: 60_000 }, () => {
  const open = useBrowser();

  test('the address names what is open, so that reload, back and forward return to it', async () => {
    const { url, client } = await sandboxFor();
    const payer = client();
    for (const ref of ['one', 'two']) await payer.pay({ client_ref_id: ref });
    const [{ txn_id: one }] = (await payer.world.transactions()) as [TransactionAnswer];
    const seen = await open(url, { apiKey: payer.apiKey });
    const { page, section } = seen;
    const detail = (name: string) => page.getByRole('region', { name, exact: true });
    await section('Transactions').getByRole('button', { name: 'Open one' }).click();
    await detail('one').waitFor();
    await section('Requests').getByLabel('What went wrong').selectOption('Refused (4xx)');
    await section('Transactions').getByRole('button', { name: 'Open two' }).click();
    await detail('two').waitFor();
    const { id } = await payer.world.summary();
    await expect.poll(() => page.url()).toContain(`#payouts?world=${id.slice(0, 8)}&payout=TXN`);

    await page.reload();
    await live(seen);
    await detail('two').waitFor();
    expect(await section('Requests').getByLabel('What went wrong').inputValue()).toBe('refused');
    await page.goBack();
    await detail('one').waitFor();
    expect(page.url()).toContain(one);
    await page.goForward();
    await detail('two').waitFor();
    expect(page.url()).not.toContain(payer.apiKey);
  });

  test('a link to a world asks for its key, which it does not contain, and shows what the link names', async () => {
    const { url, client } = await sandboxFor();
    const [mine, theirs] = [client(), client()];
    await theirs.pay({ client_ref_id: 'theirs' });
    const [{ txn_id: txnId }] = (await theirs.world.transactions()) as [TransactionAnswer];
    const { id } = await theirs.world.summary();
    const { id: myId } = await mine.world.summary();
    const seen = await open(url, { apiKey: mine.apiKey });
    const { page } = seen;
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
    expect(page.url()).not.toContain(txnId);

    await follow(link);
    await page.getByLabel('API key').fill(theirs.apiKey);
    await page.getByRole('button', { name: 'Show this world' }).click();
    await page.getByRole('region', { name: 'theirs' }).waitFor();

    // now the browser has both keys, and neither link asks
    await follow(`#wallet?world=${myId.slice(0, 8)}`);
    const key = page.getByTitle('Show another world').locator('code');
    await expect.poll(() => key.textContent()).toBe(mine.apiKey);
    await follow(link);
    await page.getByRole('region', { name: 'theirs' }).waitFor();
  });

  test('a key that is entered for a link opens no world that the user has left since', async () => {
    const { url, client } = await sandboxFor();
    const [mine, theirs] = [client(), client()];
    const [myId, id] = [(await mine.world.summary()).id, (await theirs.world.summary()).id];
    const seen = await open(url, { apiKey: mine.apiKey });
    const { page } = seen;
    await expect.poll(() => page.url()).toContain(`world=${myId.slice(0, 8)}`);
    await page.evaluate(`location.hash = '#wallet?world=${id.slice(0, 8)}'`);
    await page.getByLabel('API key').fill(theirs.apiKey);
    const answer = await holdBack(seen, '**/_sandbox/world');
    await page.getByRole('button', { name: 'Show this world' }).click();
    await page.getByRole('button', { name: 'Back to my world' }).click();
    const theirKey = `Bearer ${theirs.apiKey}`;
    const answered = page.waitForResponse((it) => it.request().headers()['authorization'] === theirKey);
    answer();
    await (await answered).finished();
    await page.evaluate(`fetch('./').then((later) => later.text())`); // so that the page has seen the answer
    await loaded(seen);
    expect(await page.getByTitle('Show another world').locator('code').textContent()).toBe(mine.apiKey);
  });

  test('a link that is followed as the page writes a filter into its address is not lost', async () => {
    const { url, client } = await sandboxFor();
    const { apiKey } = client();
    const seen = await open(url, { apiKey });
    const { page } = seen;
    await live(seen);
    // the link is followed when the write is due already, so that the write comes before the event of the link
    await page.evaluate(`{
      const filter = document.querySelector('#requests select');
      filter.value = 'refused';
      filter.dispatchEvent(new Event('change', { bubbles: true }));
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { location.hash = 'key=sk_test_of_a_link'; };
      port2.postMessage(null);
      for (const from = performance.now(); performance.now() - from < 600; );
    }`);
    await page.getByRole('alert').getByText('sk_test_of_a_link').waitFor();
    expect(page.url()).toContain('requests.');
    expect(page.url()).not.toContain('key=');
  });

  test('a link that is followed just before a click is not lost', async () => {
    const { url, client } = await sandboxFor();
    const payer = client();
    await payer.pay({ client_ref_id: 'only' });
    const { page, section } = await open(url, { apiKey: payer.apiKey });
    await section('Transactions').getByRole('button', { name: 'Open only' }).waitFor();
    await page.evaluate(`{
      location.hash = 'key=sk_test_of_a_link';
      document.querySelector('#payouts [aria-label="Open only"]').click(); // before the event of the link
    }`);
    await page.getByRole('alert').getByText('sk_test_of_a_link').waitFor();
    await page.getByRole('region', { name: 'only' }).waitFor();
    expect(page.url()).not.toContain('key=');
  });
});
