/// <reference lib="dom" /> -- for the functions that run in the page
import { chromium, type Browser, type ConsoleMessage, type Dialog, type Locator } from 'playwright-core';
import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { SettingsInput } from '../../src/index.ts';
import { CHROMIUM } from './chromium.ts';
import { sandboxFor } from './sandbox.ts';

interface View {
  /** The key of the world; null for a browser that has stored none. */
  readonly apiKey: string | null;
  readonly width?: number;
  readonly height?: number;
}

type ViewName = 'Overview' | 'Payouts' | 'Requests' | 'Conduct' | 'Scenario' | 'World';

/** The page, as a test uses it. */
export interface Seen {
  readonly page: Page;
  /** Goes to a view. */
  readonly view: (name: ViewName) => Promise<Locator>;
  /** The controls that are in sight in every view. */
  readonly controls: Locator;
}

/** Console errors that a browser writes while the server is away. */
const UNREACHABLE =
  /net::ERR_(CONNECTION_\w+|INCOMPLETE_CHUNKED_ENCODING|CONTENT_LENGTH_MISMATCH|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED)/;
/** The console error that a browser writes for each refused request. */
const REFUSED = /Failed to load resource: the server responded with a status of (4|5)\d\d/;

/** One browser for all files of a worker. It ends with the worker's process. */
let browser: Promise<Browser> | undefined;

const sharedBrowser = (): Promise<Browser> =>
  (browser ??= chromium.launch({
    executablePath: CHROMIUM,
    timeout: 60_000,
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--in-process-gpu', // one process less to start
      '--renderer-process-limit=1', // one process for the pages of all tests
      '--disable-site-isolation-trials',
    ],
  }));

/**
 * One page for all tests of a file: a new page for each took longer than most tests. Each test finds the
 * page empty and its storage cleared. A page that logs an error, violates its own policy, or requests anything from
 * another origin fails its test.
 */
function useBrowser(): (url: string, view: View) => Promise<Seen> {
  let page: Page;
  beforeAll(async () => {
    page = await (await sharedBrowser()).newPage();
    page.setDefaultTimeout(30_000); // a slow machine is no failure
  }, 90_000);
  afterAll(() => page.close());

  return async (url, { apiKey, width = 1280, height = 900 }) => {
    const complaints: string[] = [];
    const onError = (error: Error): number => complaints.push(error.message);
    const onConsole = (message: ConsoleMessage): void => {
      const text = message.text();
      const isFault = message.type() === 'error' || message.type() === 'warning';
      if (isFault && !UNREACHABLE.test(text) && !REFUSED.test(text)) complaints.push(text);
    };
    const onDialog = (dialog: Dialog): void => {
      complaints.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    };
    const onRequest = (request: Request): void => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== 'data:' && origin !== new URL(url).origin) complaints.push(`asked ${request.url()}`);
    };
    page.on('pageerror', onError).on('console', onConsole).on('dialog', onDialog).on('request', onRequest);
    onTestFinished(async () => {
      if (page.url().startsWith(url)) await page.evaluate('localStorage.clear()');
      page
        .off('pageerror', onError)
        .off('console', onConsole)
        .off('dialog', onDialog)
        .off('request', onRequest);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.goto('about:blank'); // ends its requests, such as its stream of events
      expect(complaints).toEqual([]);
    });
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${url}/_sandbox/${apiKey === null ? '' : `#key=${apiKey}`}`);
    return {
      page,
      view: async (name) => {
        await page.getByRole('navigation').getByRole('link', { name }).click();
        await page.getByRole('heading', { name, exact: true, level: 2 }).waitFor({ state: 'attached' });
        return page.locator('main section');
      },
      controls: page.getByRole('banner'),
    };
  };
}

/** World time of a new world: 16:00 IST. */
export const FROZEN = '2026-01-15T10:30:00Z';
export const LOST = '9999100500'; // paid, but the client gets a 500
export const REVERSED_LATER = '9999200004';

/** Makes worlds, and shows them in the dashboard. */
export function useWorldPage() {
  const open = useBrowser();
  async function newWorld(settings: SettingsInput = { clock: FROZEN }) {
    const { url, client } = await sandboxFor(settings);
    const payer = client();
    const show = async (width = 1280) => {
      const seen = await open(url, { apiKey: payer.apiKey, width });
      await loaded(seen);
      const form = seen.page.getByRole('complementary', { name: 'Pay' });
      return { ...seen, seen, form, said: seen.page.getByLabel('What happened') };
    };
    return { url, client, payer, show };
  }
  const shownWorld = async (settings?: SettingsInput) => {
    const made = await newWorld(settings);
    return { ...made, ...(await made.show()) };
  };
  return { open, newWorld, shownWorld };
}

/** Waits until the page receives the events of the world. */
export const live = ({ page }: Seen): Promise<void> => page.locator('[data-connection=live]').waitFor();

/** Waits until the page shows everything that there is of the world as well. */
export const loaded = ({ page }: Seen): Promise<void> =>
  page.locator('[data-loaded][data-connection=live]').waitFor();

/** Holds requests of the page back, as a slow network does. @returns lets them through */
export async function holdBack({ page }: Seen, path: string): Promise<() => void> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(path, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}
