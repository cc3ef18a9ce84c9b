import { describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, live, needsBrowser, useBrowser } from '../support/browser.ts';
import { sandboxFor } from '../support/sandbox.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

/** Keeps what the page says of its connection, and every alert. */
const RECORD = `
  window.said = new Set();
  const look = () => document.querySelectorAll('.connection, [role=alert]').forEach((one) => window.said.add(one.textContent));
  look();
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
`;

describe.skipIf(!hasBrowser)(
  `the dashboard behind a load balancer${needsBrowser}`,
  { timeout: 60_000 },
  () => {
    const open = useBrowser();

    test('reconnects without a word when the server that it is connected to goes away and another answers', async () => {
      const { url, client } = await sandboxFor();
      const payer = client();
      const balancer = await TcpProxy.to(Number(new URL(url).port));
      onTestFinished(() => balancer.close());
      const seen = await open(`http://127.0.0.1:${balancer.port}`, { apiKey: payer.apiKey });
      await live(seen);
      const row = (name: string) =>
        seen.section('Transactions').getByRole('button', { name: `Open ${name}` });
      await payer.pay({ client_ref_id: 'before' });
      await row('before').waitFor();

      await seen.page.evaluate(RECORD);
      balancer.cutAll();
      await payer.pay({ client_ref_id: 'meanwhile' });
      await row('meanwhile').waitFor();
      expect(await seen.page.evaluate('[...window.said]')).toEqual(['Live']);
    });
  },
);
