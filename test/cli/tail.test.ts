import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tail } from '../../src/cli/world/tail.ts';
import { sessionOf } from '../../src/cli/world/world-session.ts';
import { startSandbox } from '../../src/index.ts';
import { MAIN, Program } from '../support/program.ts';
import { sandboxFor } from '../support/sandbox.ts';

/** A line without its time, the day in a UTR, and how long the answer took. */
const timeless = (line: string): string =>
  line
    .replace(/^[\d:.]+/, '<time>')
    .replace(/UTR \d{4}/, 'UTR <day>')
    .replace(/\d+ ms/, '<ms>');

test('tail shows requests, settlements and findings, and follows a sandbox that goes away and comes back', async () => {
  const options = { clock: '2026-01-15T10:30:00Z', rateLimit: 'off' };
  const first = await startSandbox(options);
  const session = sessionOf({ url: first.url, key: 'sk_test_demo' }, {});
  const lines: string[] = [];
  const notes: string[] = [];
  const stop = new AbortController();
  const ended = tail(
    session,
    { say: (line) => lines.push(line), note: (line) => notes.push(line) },
    stop.signal,
  );
  await expect.poll(() => notes.length).toBe(1);
  await session.world.events().then((events) => events.return()); // the world is watched
  await expect
    .poll(async () => {
      await session.world.pay({ client_ref_id: 'order-1', amount: 1500.5 });
      return lines.join('\n');
    })
    .toMatch(/16:00:00\.000 {2}initiate {2}order-1 {2}₹1,500\.50 IMPS {2}200 PENDING/);
  await session.world.pay({ client_ref_id: 'order-1', amount: 9 });
  await expect
    .poll(() => lines.join('\n'))
    .toContain('reference-reused: order-1 was sent again with another amount');
  await session.world.clock.advance('1h');
  await expect
    .poll(() => lines.join('\n'))
    .toMatch(/16:00:02\.000 {2}settled {3}order-1 {2}SUCCESS {2}UTR \d+/);
  await first.close();
  await expect
    .poll(() => notes.at(-1), { timeout: 5000 })
    .toMatch(/^lost the connection to .*: waiting for it$/);
  const again = await startSandbox({ ...options, port: Number(new URL(first.url).port) });
  await expect.poll(() => notes.at(-1), { timeout: 5000 }).toMatch(/is back$/);
  stop.abort();
  expect(await ended).toBe(0);
  for (const page of ['README.md', 'docs/cli.md']) {
    const [, shown] = /```\n(\d\d:.*?)```/s.exec(readFileSync(page, 'utf8'))!;
    const expected = shown!.trim().split('\n').map(timeless);
    expect(lines.map(timeless)).toEqual(expect.arrayContaining(expected));
  }
  await again.close();
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
