// How the page fares while a world is busy: `npm run bench:dashboard`, or `node bench/dashboard.mjs --minutes 1 --per-second 20`.
// Prints for each part of the run how many rows the page shows, how long it takes from a key press to what it shows (median and
// worst), and what it holds in memory. At the end, whether every payout is there.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { startSandbox } from '../dist/index.js';
import { median } from './figures.mjs';
import { payoutOf } from './payout.mjs';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, 'per-second': { type: 'string', default: '20' } },
});
const [minutes, perSecond] = [Number(values.minutes), Number(values['per-second'])];
const REPORTS = 6;
const paid = Math.round(minutes * 60 * perSecond);
const reportEvery = Math.ceil(paid / REPORTS);

const sandbox = await startSandbox({ rateLimit: 'off' });
const { url, apiKey } = sandbox.world();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
const page = await browser.newPage();
await page.goto(`${url}/_sandbox/#key=${apiKey}`);
await page.locator('[data-loaded][data-connection=live]').waitFor();
await page.getByRole('link', { name: 'Payouts' }).click();
const session = await page.context().newCDPSession(page);
const shown = page.locator('.view-head [role=status]');

const pay = (nth) =>
  fetch(`${url}/payout/initiate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(payoutOf(`bench-${nth}`)),
  });

/** Changes the search text, and waits until the page has drawn what it finds. */
const answerMs = () =>
  page.evaluate(`new Promise((resolve) => {
    const search = document.querySelector('input[type=search]');
    const start = performance.now();
    search.value = search.value === '' ? 'bench' : '';
    search.dispatchEvent(new Event('input', { bubbles: true }));
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
  })`);

async function heapMegabytes() {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize / 1e6;
}

let answers = [];
const pays = [];
const startMs = performance.now();
for (let nth = 1; nth <= paid; nth += 1) {
  pays.push(pay(nth));
  if (nth % perSecond === 0) answers.push(await answerMs());
  if (nth % reportEvery === 0 || nth === paid) {
    const [usual, worst] = [median(answers), Math.max(...answers)].map((ms) => ms.toFixed(0));
    const heap = (await heapMegabytes()).toFixed(1);
    process.stdout.write(
      `${nth} paid, shown: ${await shown.textContent()}, answers ${usual} ms (worst ${worst}), heap ${heap} MB\n`,
    );
    answers = [];
  }
  await sleep(Math.max(0, startMs + (nth * 1000) / perSecond - performance.now()));
}
await Promise.all(pays);
await page.locator('input[type=search]').fill('');
await shown.getByText(paid.toLocaleString('en-IN'), { exact: true }).waitFor();
process.stdout.write(`every payout is there: ${await shown.textContent()}\n`);
await browser.close();
await sandbox.close();
