// Pictures of the dashboard: `npm run build && node build/screenshots.mjs`. They need Chromium.
// Without an argument it takes those that the documents show, into docs/images; with a folder, all of them into that folder.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { startSandbox } from '../dist/index.js';
import { badDay, careful, firstPayout, manyPayouts, newWorld, threeDaysLater } from './screenshot-worlds.mjs';

const IMAGES = new URL('../docs/images/', import.meta.url).pathname;
const WIDE = { width: 1400, height: 900 };
const LOW = { width: 1160, height: 480 };
const NARROW = { width: 360, height: 780 };

/** Opens a payout at risk from the counter in the header. */
const openRisk = async (page) => {
  await page.getByRole('banner').getByRole('button', { name: 'at risk' }).click();
  await page.getByRole('button', { name: 'Open salary-007', exact: true }).click();
  await page.getByRole('list', { name: 'Story' }).getByText('not told').waitFor();
};

/** Looks two steps ahead on the ribbon. */
const lookAhead = async (page) => {
  await page.getByRole('slider', { name: /^Now/ }).focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.getByRole('status', { name: 'Preview' }).getByText('1 REVERSED').waitFor();
};

/** Adds the nine failures for a client that makes one mistake. */
const breakClient = async (page, world) => {
  await page.keyboard.press('4');
  await page.getByRole('button', { name: 'Break my client' }).click();
  const score = page.getByRole('list', { name: 'Scorecard' });
  await score.waitFor();
  await careful(world);
  await score.getByText('failed', { exact: true }).first().waitFor();
  await page.getByText('Nine failures are added').waitFor({ state: 'detached' });
};

const openPalette = async (page) => {
  await page.keyboard.press('Control+k');
  await page.keyboard.type('next initiate payout');
};

const SITUATIONS = [
  { name: 'new-world', world: newWorld },
  { name: 'first-payout', world: firstPayout },
  { name: 'bad-day', world: badDay, inDocs: 'dashboard-wide' },
  { name: 'money-at-risk', world: badDay, act: openRisk, theme: 'dark' },
  {
    name: 'story',
    world: badDay,
    act: openRisk,
    theme: 'dark',
    view: LOW,
    clip: '.split',
    inDocs: 'dashboard-story',
  },
  { name: '5000-payouts', world: manyPayouts },
  { name: 'three-days-later', world: threeDaysLater },
  { name: 'ribbon', world: badDay, act: lookAhead, view: LOW, clip: 'main', inDocs: 'dashboard-ribbon' },
  {
    name: 'palette',
    world: badDay,
    act: openPalette,
    view: LOW,
    clip: 'dialog',
    inDocs: 'dashboard-palette',
  },
  { name: 'scorecard', world: newWorld, act: breakClient, clip: 'main', inDocs: 'dashboard-scorecard' },
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
for (const { name, world: prepare, act, theme = 'light', view = WIDE, clip = 'body', inDocs } of wanted) {
  const world = worlds.get(prepare) ?? sandbox.world(`sk_test_${prepare.name}`);
  if (!worlds.has(prepare)) await prepare(world);
  worlds.set(prepare, world);
  const page = await browser.newPage({ colorScheme: theme, viewport: view });
  await page.goto(`${world.url}/_sandbox/#key=${world.apiKey}`);
  await page.locator('[data-loaded][data-connection=live]').waitFor();
  await page.getByText('older not loaded').waitFor({ state: 'detached' });
  await act?.(page, world);
  await page.locator(clip).screenshot({ path: join(folder, `${folder === IMAGES ? inDocs : name}.png`) });
  await page.close();
}
await browser.close();
await sandbox.close();
