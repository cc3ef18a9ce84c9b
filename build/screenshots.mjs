// Pictures of the page in eight situations: `npm run build && node build/screenshots.mjs`. They need Chromium.
// Without an argument it takes the two that the documents show, into docs/images; with a folder, all eight into that folder.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { startSandbox } from '../dist/index.js';
import { badDay, firstPayout, manyPayouts, newWorld, threeDaysLater } from './screenshot-worlds.mjs';

const IMAGES = new URL('../docs/images/', import.meta.url).pathname;
const WIDE = { width: 1400, height: 900 };
const NARROW = { width: 360, height: 780 };

/** Opens a payout at risk from the counter in the header. */
const openRisk = async (page) => {
  await page.getByRole('button', { name: 'at risk' }).click();
  await page.getByRole('button', { name: 'Open salary-007', exact: true }).click();
  await page.getByRole('list', { name: 'Story' }).getByText('not told').waitFor();
};

const SITUATIONS = [
  { name: 'new-world', world: newWorld },
  { name: 'first-payout', world: firstPayout },
  { name: 'bad-day', world: badDay, inDocs: 'dashboard-wide' },
  { name: 'money-at-risk', world: badDay, act: openRisk, theme: 'dark', inDocs: 'dashboard-dark' },
  { name: '5000-payouts', world: manyPayouts },
  { name: 'three-days-later', world: threeDaysLater },
  { name: 'narrow', world: badDay, view: NARROW },
  { name: 'dark', world: badDay, theme: 'dark' },
];

const [folder = IMAGES] = process.argv.slice(2);
const wanted = folder === IMAGES ? SITUATIONS.filter(({ inDocs }) => inDocs !== undefined) : SITUATIONS;
mkdirSync(folder, { recursive: true });

const sandbox = await startSandbox({
  clock: '2026-01-15T04:30:00Z',
  seed: 'screenshots',
  rateLimit: 'off',
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
const worlds = new Map();
for (const { name, world: prepare, act, theme = 'light', view = WIDE, inDocs } of wanted) {
  const world = worlds.get(prepare) ?? sandbox.world(`sk_test_${prepare.name}`);
  if (!worlds.has(prepare)) await prepare(world);
  worlds.set(prepare, world);
  const page = await browser.newPage({ colorScheme: theme, viewport: view });
  await page.goto(`${world.url}/_sandbox/#key=${world.apiKey}`);
  await page.locator('[data-loaded][data-connection=live]').waitFor();
  await page.getByText('older not loaded').waitFor({ state: 'detached' });
  await act?.(page);
  await page.screenshot({ path: join(folder, `${folder === IMAGES ? inDocs : name}.png`) });
  await page.close();
}
await browser.close();
await sandbox.close();
