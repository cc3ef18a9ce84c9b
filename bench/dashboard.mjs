// How the dashboard performs while a world is busy: `npm run bench:dashboard`, or
// `node bench/dashboard.mjs --rows 20000 --minutes 2 --per-second 200 --view Overview`.
// Prints for each part of the run how many payouts the dashboard shows, how long it takes from a key press to what it shows, how long
// a task of its main thread takes (the longest by the clock, of which the processor worked so long on it), and its heap. At the end,
// whether every payout is there.
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
await page.goto(`${url}/_sandbox/#key=${apiKey}`);
await page.locator('[data-loaded][data-connection=live]').waitFor();
const views = page.getByRole('navigation');
await views.getByRole('link', { name: 'Payouts' }).click();
await page.getByText('older not loaded').waitFor({ state: 'detached' });
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

const trace = () => browser.startTracing(page, { categories: ['toplevel'] });

/** The tasks of the page's main thread since `trace`, longest first, in ms: by the clock, and of the processor. */
async function tasks() {
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  const { pid, tid } = traceEvents.find(
    ({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain',
  );
  return traceEvents
    .filter(
      (event) => event.name === 'ThreadControllerImpl::RunTask' && event.pid === pid && event.tid === tid,
    )
    .map(({ dur, tdur }) => ({ clock: dur / 1000, processor: tdur / 1000 }))
    .toSorted((one, other) => other.clock - one.clock);
}

async function heapMegabytes() {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize / 1e6;
}

let answers = [];
const pays = [];
await trace();
const startMs = performance.now();
for (let nth = 1; nth <= paid; nth += 1) {
  pays.push(pay(nth));
  if (nth % perSecond === 0) answers.push(await answerMs());
  if (nth % reportEvery === 0 || nth === paid) {
    const [usual, worst] = [median(answers), Math.max(...answers)].map((ms) => ms.toFixed(0));
    const [longest, ...others] = await tasks();
    const long = [longest, ...others].filter(({ clock }) => clock > 50).length;
    const heap = (await heapMegabytes()).toFixed(1);
    process.stdout.write(
      `${nth} paid, responses ${usual} ms (worst ${worst}), tasks above 50 ms: ${long}, the longest ${longest.clock.toFixed(0)} ms (processor ${longest.processor.toFixed(0)}); heap ${heap} MB\n`,
    );
    answers = [];
    await trace();
  }
  await sleep(Math.max(0, startMs + (nth * 1000) / perSecond - performance.now()));
}
await Promise.all(pays);
await browser.stopTracing();
await views.getByRole('link', { name: 'Payouts' }).click();
await page.getByRole('searchbox').fill(`bench-${paid}`);
await page.getByRole('button', { name: `Open bench-${paid}`, exact: true }).waitFor();
await page.getByRole('searchbox').fill('');
process.stdout.write(`the newest payout is there; shown: ${await shown.textContent()}\n`);
await browser.close();
await sandbox.close();
