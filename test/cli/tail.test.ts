import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { tail } from '../../src/cli/world/tail.ts';
import { sessionOf } from '../../src/cli/world/world-session.ts';
import { startSandbox, type Sandbox } from '../../src/index.ts';
import { MAIN, Program } from '../support/program.ts';
import { sandboxFor } from '../support/sandbox.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

const portOf = ({ url }: Sandbox): number => Number(new URL(url).port);

/** A line without its time, the day in a UTR, and how long the answer took. */
const timeless = (line: string): string =>
  line
    .replace(/^[\d:.]+/, '<time>')
    .replace(/UTR \d{4}/, 'UTR <day>')
    .replace(/\d+ ms/, '<ms>');

test('tail shows requests, settlements and findings, and follows a sandbox that goes away and comes back', async () => {
  const options = { clock: '2026-01-15T10:30:00Z', rateLimit: 'off' };
  const first = await startSandbox(options);
  onTestFinished(() => first.close());
  const proxy = await TcpProxy.to(portOf(first)); // an address that stays
  onTestFinished(() => proxy.close());
  const session = sessionOf({ url: `http://127.0.0.1:${proxy.port}`, key: 'sk_test_demo' }, {});
  const lines: string[] = [];
  const notes: string[] = [];
  const stop = new AbortController();
  let ended: Promise<number>;
  await new Promise((paid) => {
    const note = (line: string): void => {
      notes.push(line);
      if (line.startsWith('following')) paid(session.world.pay({ client_ref_id: 'order-1', amount: 1500.5 }));
    };
    ended = tail(session, { say: (line) => lines.push(line), note }, stop.signal);
  });
  await expect
    .poll(() => lines.join('\n'))
    .toMatch(/16:00:00\.000 {2}initiate {2}order-1 {2}₹1,500\.50 IMPS {2}200 PENDING/);
  await session.world.pay({ client_ref_id: 'order-1', amount: 9 });
  await expect
    .poll(() => lines.join('\n'))
    .toContain('reference-reused: order-1 was sent again with another amount');
  await session.world.clock.advance('1h');
  await expect
    .poll(() => lines.join('\n'))
    .toMatch(/16:00:02\.000 {2}settled {3}order-1 {2}SUCCESS {2}UTR \d+/);
  proxy.targetPort = 1; // where nobody listens
  await first.close();
  await expect.poll(() => notes.at(-1)).toMatch(/^lost the connection to .*: waiting for it$/);
  const again = await startSandbox(options);
  onTestFinished(() => again.close());
  proxy.targetPort = portOf(again);
  await expect.poll(() => notes.at(-1)).toMatch(/is back$/);
  stop.abort();
  expect(await ended!).toBe(0);
  for (const page of ['README.md', 'docs/cli.md']) {
    const [, shown] = /```\n(\d\d:.*?)```/s.exec(readFileSync(page, 'utf8'))!;
    const expected = shown!.trim().split('\n').map(timeless);
    expect(lines.map(timeless)).toEqual(expect.arrayContaining(expected));
  }
});

test('Ctrl-C ends tail with exit code 0', async () => {
  const { url } = await sandboxFor();
  const program = new Program(process.execPath, [MAIN, 'tail', '--url', url], {});
  await once(program.child.stderr!, 'data'); // it says what it follows
  expect(await program.stop('SIGINT')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^payout-sandbox: following world \w+ at .*; Ctrl-C to stop\n$/),
  });
});
