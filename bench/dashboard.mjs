// How the page fares while a world is busy: `npm run bench:dashboard`, or with other figures
// `node bench/dashboard.mjs <minutes> <payouts a second>`. Prints what each half minute was like: rows seen, how long the page
// takes from a key to what it shows (median and worst), and what it holds in memory.
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { startSandbox } from '../dist/index.js';

const [minutes = 10, perSecond = 20] = process.argv.slice(2).map(Number);
const REPORT_EVERY_S = 30;
const sandbox = await startSandbox({ rateLimit: 'off' });
const { url, apiKey } = sandbox.world();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
const page = await browser.newPage();
await page.goto(`${url}/_sandbox/#key=${apiKey}`);
await page.locator('.connection.live').waitFor();
const session = await page.context().newCDPSession(page);

const pay = (nth) =>
  fetch(`${url}/payout/initiate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      client_ref_id: `bench-${nth}`,
      beneficiary_name: 'Asha Rao',
      beneficiary_account: '000123456789',
      beneficiary_ifsc: 'SBIN0000001',
      amount: 1,
      transfer_mode: 'IMPS',
    }),
  });

const answerMs = () =>
  page.evaluate(`new Promise((resolve) => {
    const search = document.querySelector('#payouts input[type=search]');
    const start = performance.now();
    search.value = search.value === '' ? 'bench' : '';
    search.dispatchEvent(new Event('input', { bubbles: true }));
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
  })`);

let answers = [];
for (let nth = 0; nth < minutes * 60 * perSecond; nth += 1) {
  void pay(nth);
  if (nth % perSecond === 0) answers.push(await answerMs());
  if (nth > 0 && nth % (REPORT_EVERY_S * perSecond) === 0) {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    const sorted = answers.toSorted((a, b) => a - b);
    const shown = await page.locator('#payouts .card-head [role=status]').textContent();
    process.stdout.write(
      `${nth} paid, shown: ${shown}, answers ${sorted[sorted.length >> 1].toFixed(0)} ms (worst ${sorted.at(-1).toFixed(0)}), heap ${(usedSize / 1e6).toFixed(1)} MB\n`,
    );
    answers = [];
  }
  await sleep(1000 / perSecond);
}
await browser.close();
await sandbox.close();
