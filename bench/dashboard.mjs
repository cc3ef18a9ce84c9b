// How the dashboard performs while a world is busy: `npm run bench:dashboard`, or
// `node bench/dashboard.mjs --rows 20000 --minutes 2 --per-second 200 --view Overview`.
// Prints for each part of the run how many payouts the dashboard shows, how long it takes from a key press to what it shows and how
// long a task of its main thread takes, and its heap. At the end, whether every payout is there.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { startSandbox } from '../dist/index.js';
import { median } from './figures.mjs';
import { payoutOf } from './payout.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '0' },
    minutes: { type: 'string', default: '10' },
    'per-second': { type: 'string', default: '20' },
    view: { type: 'string', default: 'Payouts' },
  },
});
const [rows, minutes, perSecond] = [values.rows, values.minutes, values['per-second']].map(Number);
const AT_ONCE = 50;
const REPORTS = 6;
const paid = Math.round(minutes * 60 * perSecond);
const reportEvery = Math.ceil(paid / REPORTS);

const sandbox = await startSandbox({ rateLimit: 'off' });
const { url, apiKey } = sandbox.world();
const pay = (nth) =>
  fetch(`${url}/payout/initiate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(payoutOf(`bench-${nth}`)),
  });
for (let nth = 0; nth < rows; nth += AT_ONCE) {
  await Promise.all(Array.from({ length: AT_ONCE }, (_, more) => pay(`before-${nth + more}`)));
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
const page = await browser.newPage();
await page.addInitScript(`
  globalThis.longTasks = [];
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' });
`);
await page.goto(`${url}/_sandbox/#key=${apiKey}`);
await page.locator('[data-loaded][data-connection=live]').waitFor();
const views = page.getByRole('navigation');
await views.getByRole('link', { name: 'Payouts' }).click();
const older = page.getByRole('button', { name: 'Load older' });
while (await older.isVisible()) {
  await older.click();
  await page.locator('button[aria-disabled=true]').waitFor({ state: 'detached' });
}
await views.getByRole('link', { name: values.view }).click();
await page.getByRole('heading', { name: values.view, level: 2 }).waitFor({ state: 'attached' });
const session = await page.context().newCDPSession(page);
const shown = page.locator('.view-head [role=status]');

/** Changes the text of a field, and waits until the dashboard has drawn what follows. */
const answerMs = () =>
  page.evaluate(`new Promise((resolve) => {
    const field = document.querySelector('main input');
    const start = performance.now();
    field.value = field.value === '' ? '1' : '';
    field.dispatchEvent(new Event('input', { bubbles: true }));
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
    const tasks = await page.evaluate('longTasks.splice(0)');
    const longest = tasks.length === 0 ? 'none' : `${tasks.length}, the longest ${Math.max(...tasks)} ms`;
    const heap = (await heapMegabytes()).toFixed(1);
    await sleep(100);
    await page.evaluate('longTasks.length = 0'); // the collection before a reading is a task of its own
    process.stdout.write(
      `${nth} paid, responses ${usual} ms (worst ${worst}), tasks above 50 ms: ${longest}; heap ${heap} MB\n`,
    );
    answers = [];
  }
  await sleep(Math.max(0, startMs + (nth * 1000) / perSecond - performance.now()));
}
await Promise.all(pays);
await views.getByRole('link', { name: 'Payouts' }).click();
await page.getByRole('searchbox').fill(`bench-${paid}`);
await page.getByRole('button', { name: `Open bench-${paid}`, exact: true }).waitFor();
await page.getByRole('searchbox').fill('');
process.stdout.write(`the newest payout is there; shown: ${await shown.textContent()}\n`);
await browser.close();
await sandbox.close();
