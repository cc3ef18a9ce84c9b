import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/index.ts';
import { hasBrowser, live, needsBrowser, useBrowser } from '../support/browser.ts';
import { clientOf, sandboxFor } from '../support/sandbox.ts';
import { hasCurl } from '../support/paying-command.ts';
import { sized } from '../support/size.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

const run = promisify(execFile);
const FROZEN = '2026-01-15T10:30:00Z';
const REVERSED_LATER = '9999200004';

describe.skipIf(!hasBrowser)(`the dashboard${needsBrowser}`, { timeout: 60_000 }, () => {
  const open = useBrowser();

  /** A world, and the dashboard that shows it. */
  async function worldPage() {
    const { url, client } = await sandboxFor({ clock: FROZEN });
    const payer = client();
    const seen = await open(url, { apiKey: payer.apiKey });
    await live(seen);
    return { url, payer, seen, page: seen.page, section: seen.section };
  }

  test('shows what the client does wrong with the money, and the requests that show it', async () => {
    const { payer, section } = await worldPage();
    await section('Conduct').getByText('no findings').waitFor();
    await payer.pay({ client_ref_id: 'order-1', amount: 10.005 });
    const finding = section('Conduct').getByRole('listitem').filter({ hasText: 'amount-not-paise' });
    await finding.getByText('Instead: count in whole paise').waitFor();
    expect(await section('Conduct').getByRole('listitem').count()).toBe(1);
    await finding.getByRole('button', { name: '#1' }).click();
    await section('Requests').getByRole('region', { name: 'Request 1' }).waitFor();
  });

  test('lists the requests that a rule holds, and releases them', async () => {
    const { payer, section } = await worldPage();
    await payer.world.rule({ name: 'held', match: { route: 'initiate' }, effect: { hold: 'arrived' } });
    const paying = payer.pay();
    const held = section('Requests').getByRole('list', { name: 'Held requests' }).getByRole('listitem');
    await held.filter({ hasText: 'order-1' }).getByText('nothing has happened yet').waitFor();
    expect(await payer.world.transactions()).toEqual([]);
    await held.getByRole('button', { name: 'Release' }).click();
    expect((await paying).status).toBe(200);
    await held.waitFor({ state: 'detached' });
  });

  test('makes a payout, settles it, and shows its reversal and refund three days later', async () => {
    const { page, section } = await worldPage();
    const balance = section('Wallet').locator('.figure').filter({ hasText: 'Balance' });
    await balance.getByText('₹10,00,000.00', { exact: true }).waitFor();
    await section('Transactions').getByText('No transactions yet').waitFor();

    await section('Try it').getByLabel('Outcome').selectOption(REVERSED_LATER);
    await section('Try it').getByLabel('Amount').fill('25000');
    await section('Try it').getByRole('button', { name: 'Pay' }).click();
    await section('Try it')
      .getByText(/^200 after/)
      .waitFor();
    const row = section('Transactions').getByRole('row').filter({ hasText: '₹25,000.00' });
    await row.getByText('PENDING').waitFor();
    await balance.getByText('₹9,75,000.00').waitFor();

    await section('Clock').getByRole('button', { name: 'Resume' }).click();
    await row.getByText('SUCCESS').waitFor(); // two seconds of world time later, by an event
    await section('Clock').getByRole('button', { name: 'Freeze' }).click();
    await section('Clock').getByText('frozen', { exact: true }).waitFor();
    await section('Clock').getByRole('button', { name: '+3 days' }).click();
    await section('Clock').getByText('1 change').waitFor();
    await row.getByText('REVERSED').waitFor();
    await balance.getByText('₹10,00,000.00', { exact: true }).waitFor();

    await row.getByRole('button').click();
    const steps = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem');
    await expect
      .poll(() => steps.locator('strong').allTextContents())
      .toEqual(['Created, PENDING', 'SUCCESS, with its UTR', 'REVERSED']);
    const detail = page.getByRole('region', { name: /^try-/ });
    await detail.getByText('+₹25,000.00').waitFor();
    await detail.getByRole('button', { name: /initiate/ }).click();
    await page.getByRole('region', { name: 'Request 1' }).getByText('magic/success-then-reversed').waitFor();
  });

  test('a payout that hangs after its commit can be filtered, and ends when the client stops waiting', async () => {
    const { section, payer } = await worldPage();
    await section('Scenario').getByRole('button', { name: 'Hang after commit' }).click();
    await section('Scenario').getByText('world/hang-after-commit').waitFor();
    await section('Try it').getByRole('button', { name: 'Pay' }).click();

    await section('Requests')
      .getByLabel('What went wrong')
      .selectOption('Paid, but the client saw a failure');
    const row = section('Requests').getByRole('row').filter({ hasText: 'world/hang-after-commit' });
    await row.getByText('hanging').waitFor();
    await row.getByText('paid', { exact: true }).waitFor();
    await section('Scenario').getByText('used 1×').waitFor();
    await section('Try it').getByRole('button', { name: 'Stop waiting' }).click();
    await row.getByText('hang', { exact: true }).waitFor();
    expect((await payer.world.wallet()).in_flight).toBe(1500.5);

    await section('Scenario').getByRole('button', { name: 'Back to normal' }).click();
    await section('Scenario').getByText('world/hang-after-commit').waitFor({ state: 'detached' });
    await section('Try it').getByRole('button', { name: 'Pay' }).click();
    await section('Try it')
      .getByText(/^200 after/)
      .waitFor();
  });

  test('forces a legal transition, and credits and debits the wallet', async () => {
    const { page, payer, section } = await worldPage();
    await payer.pay({ client_ref_id: 'forced', beneficiary_account: '9999200005' });
    await section('Transactions').getByRole('button', { name: 'Open forced' }).click();
    await page.getByRole('list', { name: 'Timeline' }).getByText('PENDING forever').waitFor();
    await page.getByRole('button', { name: 'Make it FAILED' }).click();
    await page.getByText('FAILED by a forced transition').waitFor();
    expect(await page.getByRole('button', { name: /^Make it/ }).count()).toBe(0);

    await section('Wallet').getByLabel('Amount').fill('500.25');
    await section('Wallet').getByRole('button', { name: 'Credit' }).click();
    await section('Wallet').getByText('₹10,00,500.25').waitFor();
    await section('Wallet').getByLabel('Amount').fill('99999999');
    await section('Wallet').getByRole('button', { name: 'Debit' }).click();
    await section('Wallet').getByRole('alert').getByText('less than the INR 99999999').waitFor();
  });

  test('chooses a scenario, and counts the uses of its rules', async () => {
    const { payer, section } = await worldPage();
    await section('Scenario').getByLabel('How this world behaves').selectOption('server-error');
    const rules = section('Scenario').getByRole('listitem').filter({ hasText: 'server-error/' });
    await rules.first().waitFor();
    expect((await payer.pay()).status).toBe(500);
    await rules.filter({ hasText: 'used 1×' }).waitFor();
    await payer.pay();
    await rules.filter({ hasText: 'used 2×' }).waitFor(); // by an event
  });

  test('shows a scenario, a rule and a reset that somebody else orders', async () => {
    const { payer, section } = await worldPage();
    const chosen = section('Scenario').getByLabel('How this world behaves').locator('option:checked');
    await expect.poll(() => chosen.textContent()).not.toContain('…'); // it has been read
    const first = await chosen.textContent();
    await payer.world.use('server-error');
    await section('Scenario').getByText('server-error/').first().waitFor();
    expect(await chosen.textContent()).toContain('server-error');
    await payer.world.rule({ name: 'elsewhere', match: { route: 'status' }, effect: { delay: '1s' } });
    await section('Scenario').getByText('world/elsewhere').waitFor();
    await payer.world.reset();
    await section('Scenario').getByText('world/elsewhere').waitFor({ state: 'detached' });
    expect(await chosen.textContent()).toBe(first);
  });

  test('shows a snapshot that somebody else restores', async () => {
    const { payer, section } = await worldPage();
    await payer.pay({ client_ref_id: 'before' });
    const snapshot = await payer.world.snapshot();
    await payer.pay({ client_ref_id: 'after' });
    const row = (name: string) => section('Transactions').getByRole('button', { name: `Open ${name}` });
    await row('after').waitFor();
    await payer.world.restore(snapshot);
    await row('after').waitFor({ state: 'detached' });
    expect(await row('before').count()).toBe(1);
  });

  test('shows the entry of a refund in the payout that is open', async () => {
    const { page, payer, section } = await worldPage();
    await payer.pay({ client_ref_id: 'refunded', beneficiary_account: '9999200005' });
    await section('Transactions').getByRole('button', { name: 'Open refunded' }).click();
    const detail = page.getByRole('region', { name: 'refunded' });
    await detail.getByText('−₹1,500.50').waitFor();
    await detail.getByRole('button', { name: 'Make it FAILED' }).click();
    await detail.getByText('+₹1,500.50').waitFor();
    expect(await payer.world.balance()).toBe(1_000_000);
  });

  test('a payout that is paid again after a reset shows its new entry', async () => {
    const { page, payer, section } = await worldPage();
    await payer.world.fund(500);
    await payer.pay({ client_ref_id: 'again', amount: 100 });
    await section('Transactions').getByRole('button', { name: 'Open again' }).click();
    const detail = page.getByRole('region', { name: 'again' });
    await detail.getByText('₹10,00,400.00 after').waitFor();
    await payer.world.reset();
    await payer.pay({ client_ref_id: 'again', amount: 100 }); // it has the same id
    await detail.getByText('₹9,99,900.00 after').waitFor();
    expect(await detail.getByText('₹10,00,400.00 after').count()).toBe(0);
  });

  test('a payout that was forced into a state just before a reset leaves no error', async () => {
    const { page, payer, section } = await worldPage();
    const row = (name: string) => section('Transactions').getByRole('button', { name: `Open ${name}` });
    await payer.pay({ client_ref_id: 'gone' });
    await row('gone').waitFor();
    await payer.world.transition((await payer.world.transactions())[0]!.txn_id, 'FAILED');
    await payer.world.reset();
    for (const ref of ['one', 'two', 'three']) {
      await payer.pay({ client_ref_id: ref });
      await row(ref).waitFor(); // each time, the page has asked for what it misses
    }
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('switches a failure on for the next payout only', async () => {
    const { payer, section } = await worldPage();
    await section('Scenario').getByLabel('Switched on').selectOption('for the next one');
    await section('Scenario').getByRole('button', { name: '500', exact: true }).click();
    await section('Scenario').getByText('world/always-500').waitFor();
    expect([(await payer.pay()).status, (await payer.pay()).status]).toEqual([500, 200]);
  });

  test('an invalid key shows the refusal of the sandbox, and another key can be entered', async () => {
    const { url } = await sandboxFor();
    const seen = await open(url, { apiKey: 'nonsense' });
    const { page } = seen;
    await page.getByRole('alert').getByText('a key that begins with sk_test_').waitFor();
    await page.getByRole('button', { name: 'Use sk_test_demo' }).click();
    await live(seen);
    await page.reload(); // the key is stored
    await live(seen);
    expect(page.url()).not.toContain('key='); // and is not in the address
  });

  test('a link with another key replaces the stored one only once the user agrees', async () => {
    const { payer, seen, page } = await worldPage();
    const other = 'sk_test_of_a_link';
    const keyShown = page.getByTitle('Show another world').locator('code');
    const follow = async (key: string): Promise<void> => {
      await page.evaluate(`location.hash = ${JSON.stringify(`key=${key}`)}`);
      await expect.poll(() => page.evaluate('location.hash')).not.toContain('key=');
    };
    await follow(payer.apiKey); // nothing to decide
    expect(await page.getByRole('alert').count()).toBe(0);

    await follow(other);
    await page.getByRole('alert').getByText(other).waitFor();
    await page.reload(); // the stored key is still the user's own
    await live(seen);
    expect(await keyShown.textContent()).toBe(payer.apiKey);

    await follow(other);
    await page.getByRole('button', { name: 'Keep my key' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    expect(await keyShown.textContent()).toBe(payer.apiKey);

    await follow(other);
    const left = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/_sandbox/events'));
    await page.getByRole('button', { name: 'Open the world of the link' }).click();
    await left; // the events of the first world are not read any more
    await live(seen);
    expect(await keyShown.textContent()).toBe(other);
    await page.reload();
    await live(seen);
    expect(await keyShown.textContent()).toBe(other);
  });

  test('without a key, asks for one and suggests sk_test_demo', async () => {
    const { url } = await sandboxFor();
    const seen = await open(url, { apiKey: null });
    expect(await seen.page.getByLabel('API key').inputValue()).toBe('sk_test_demo');
    await seen.page.getByRole('button', { name: 'Show this world' }).click();
    await live(seen);
  });

  test('reports a lost server, and reconnects with everything that happened meanwhile', async () => {
    const portOf = ({ url }: { readonly url: string }): number => Number(new URL(url).port);
    const first = await startSandbox();
    const proxy = await TcpProxy.to(portOf(first)); // an address that stays
    onTestFinished(() => proxy.close());
    const seen = await open(`http://127.0.0.1:${proxy.port}`, { apiKey: 'sk_test_again' });
    await live(seen);
    await clientOf(first.world('sk_test_again')).pay({ client_ref_id: 'before' });
    await seen.section('Transactions').getByText('before').waitFor();
    await first.close();
    await seen.page.getByText('The sandbox does not answer.').waitFor();

    const second = await startSandbox();
    proxy.targetPort = portOf(second);
    try {
      await clientOf(second.world('sk_test_again')).pay({ client_ref_id: 'meanwhile' });
      await live(seen);
      await seen.section('Transactions').getByText('meanwhile').waitFor();
      await seen.section('Transactions').getByText('before').waitFor({ state: 'detached' });
      await seen.section('Requests').getByRole('row').filter({ hasText: 'meanwhile' }).waitFor();
      expect(await seen.page.getByText('The sandbox does not answer.').count()).toBe(0);
    } finally {
      await seen.page.goto('about:blank'); // ends its stream of events
      await second.close();
    }
  });

  test('shows markup in a name, a reference or a remark as text', async () => {
    const { page, payer, section } = await worldPage();
    const evil = '<img src=x onerror=alert(1)>';
    await payer.pay({ client_ref_id: `ref ${evil}`, beneficiary_name: evil, remarks: `remark ${evil}` });
    const row = section('Transactions').getByRole('row').filter({ hasText: evil });
    await row.getByRole('button').click();
    const detail = page.getByRole('region', { name: 'ref <img' });
    await detail.getByRole('button', { name: /initiate/ }).click();
    await page.getByRole('region', { name: 'Request 1' }).getByText(`remark ${evil}`).waitFor();
    expect(await page.locator('img').count()).toBe(0);
  });

  test.skipIf(!hasCurl)('the curl command of the form makes the same payout as the form', async () => {
    const { page, section } = await worldPage();
    await section('Try it').getByLabel('Beneficiary').fill("O'Brien $(id)");
    const curl = await page.getByLabel('The payout as curl').filter({ hasText: '(id)' }).textContent();
    const { stdout } = await run('sh', ['-c', curl!]); // asynchronous, since the sandbox runs in this process
    expect(JSON.parse(stdout)).toMatchObject({ status: 'success' });
    await section('Transactions').getByRole('row').filter({ hasText: "O'Brien $(id)" }).waitFor();
  });

  test('a list can be used by keyboard alone, and focus returns to it', async () => {
    const { page, payer, section } = await worldPage();
    for (const ref of ['one', 'two', 'three']) await payer.pay({ client_ref_id: ref });
    await section('Transactions').getByRole('button', { name: 'Open one' }).waitFor();
    await section('Transactions').getByRole('button', { name: 'Open three' }).focus();
    await page.keyboard.press('ArrowDown');
    await section('Transactions').locator('button:focus', { hasText: 'two' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'two', level: 3 }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await section('Transactions').locator('button:focus', { hasText: 'two' }).waitFor();
    expect(await page.getByRole('heading', { name: 'two', level: 3 }).count()).toBe(0);
  });

  /** The serious accessibility problems that axe finds (https://github.com/dequelabs/axe-core). */
  async function accessibilityProblems(page: Page): Promise<unknown[]> {
    return page.evaluate(`axe.run().then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`);
  }

  const THEMES = ['light', 'dark'] as const;
  const SECTIONS = ['Wallet', 'Conduct', 'Transactions', 'Requests', 'Clock', 'Try it', 'Scenario', 'World'];

  /** A wide page needs two looks, a narrow one eight. */
  test.each([1400, 360, 768].slice(0, sized(1, 3)))(
    'has no serious accessibility problem in light and dark, %i px wide',
    async (width) => {
      const { url, client } = await sandboxFor({ clock: FROZEN });
      const payer = client();
      for (const account of ['1', REVERSED_LATER, '9999200001', '9999000500', '9999200003']) {
        await payer.pay({ client_ref_id: `order-${account}`, beneficiary_account: account });
      }
      await payer.clock.advance('4d');
      const { page } = await open(url, { apiKey: payer.apiKey, width });
      await page.evaluate(axe.source); // evaluated by the debugger, since the page blocks other scripts
      const problems: unknown[] = [];
      for (const name of SECTIONS) {
        await page.getByRole('link', { name }).click();
        await page.getByRole('heading', { name, level: 2, exact: true }).waitFor();
        if (name === 'Transactions')
          await page.getByRole('button', { name: `Open order-${REVERSED_LATER}` }).click();
        if (name === 'Requests') await page.getByRole('button', { name: /^Open request 4,/ }).click();
        const isNewToSee = width < 700 || name === 'Wallet' || name === 'Requests'; // a wide page shows all of them
        if (!isNewToSee) continue;
        for (const colorScheme of THEMES) {
          await page.emulateMedia({ colorScheme });
          problems.push(...(await accessibilityProblems(page)));
        }
      }
      expect(problems).toEqual([]);
    },
  );
});
