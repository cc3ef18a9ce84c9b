// The pictures of the page in docs/images: `npm run build && node build/screenshots.mjs`. They need Chromium.
import { chromium } from 'playwright-core';
import { startSandbox } from '../dist/index.js';

const IMAGES = new URL('../docs/images/', import.meta.url).pathname;
const PEOPLE = ['Asha Rao', 'Vikram Shah', 'Meera Iyer', 'Imran Khan', 'Divya Nair'];

const sandbox = await startSandbox({
  clock: '2026-01-15T04:30:00Z',
  seed: 'screenshots',
  openingBalance: 500_000,
});
const world = sandbox.world();
await world.use({
  description: 'One NEFT in five fails, one IMPS in eight is reversed, and an answer is lost now and then',
  outcomes: [
    {
      match: { transfer_mode: 'NEFT' },
      weighted: [
        { weight: 4, timeline: [{ to: 'SUCCESS', after: '40m' }] },
        { weight: 1, timeline: [{ to: 'FAILED', after: '25m' }] },
      ],
    },
    {
      match: { transfer_mode: 'IMPS' },
      weighted: [
        { weight: 7, timeline: [{ to: 'SUCCESS', after: '5s' }] },
        {
          weight: 1,
          timeline: [
            { to: 'SUCCESS', after: '5s' },
            { to: 'REVERSED', after: '2h' },
          ],
        },
      ],
    },
  ],
  rules: [
    {
      name: 'lost-answer',
      match: { route: 'initiate', payout: [7, 13], attempt: 1 },
      effect: { commit: true, respond: 500 },
    },
  ],
});
for (let nth = 1; nth <= 16; nth += 1) {
  const payout = {
    client_ref_id: `salary-${String(nth).padStart(3, '0')}`,
    beneficiary_name: PEOPLE[nth % PEOPLE.length],
    beneficiary_account: `00012345${1000 + nth}`,
    amount: 6_000 + 1_250.5 * (nth % 7),
    transfer_mode: nth % 3 === 0 ? 'NEFT' : 'IMPS',
  };
  const { status } = await world.pay(payout);
  // what the page is for: a client that pays again under a new reference, since it saw a failure
  if (status === 500) await world.pay({ ...payout, client_ref_id: `${payout.client_ref_id}-again` });
  await world.clock.advance('11m');
}
await world.fund(50_000);
await world.referee({ intent: 'beneficiary_account' });

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
for (const [name, colorScheme] of [
  ['dashboard-wide', 'light'],
  ['dashboard-dark', 'dark'],
]) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1400, height: 900 } });
  await page.goto(`${world.url}/_sandbox/#key=${world.apiKey}`);
  await page.locator('.connection.live').waitFor();
  await page.getByText('salary-016').first().waitFor();
  if (colorScheme === 'dark') await page.getByText('salary-012-again').first().click();
  await page.screenshot({ path: `${IMAGES}${name}.png` });
}
await browser.close();
await sandbox.close();
