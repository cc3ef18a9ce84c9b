import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { sessionOf } from '../../src/actions/sandbox-action.ts';
import { tail } from '../../src/cli/running-sandbox/tail.ts';
import { terminalActor } from '../../src/cli/running-sandbox/terminal-actor.ts';
import { connectSandbox, startSandbox, type Sandbox } from '../../src/index.ts';
import { MAIN, Program } from '../support/program.ts';
import { clientFor, clientOf, sandboxFor } from '../support/sandbox.ts';
import { TcpProxy } from '../support/http/tcp-proxy.ts';

const session = (url: string, key: string) => sessionOf(terminalActor({ url }, {}), key);

/** Follows the world of a session until the test stops it. */
function tailOf(followed: ReturnType<typeof session>) {
  const lines: string[] = [];
  const notes: string[] = [];
  const stop = new AbortController();
  const output = {
    say: (line: string) => void lines.push(line),
    note: (line: string) => void notes.push(line),
  };
  const ended = tail(followed, false, output, stop.signal);
  return {
    lines,
    notes,
    stop: async () => {
      stop.abort();
      expect(await ended).toBe(0);
    },
  };
}

const portOf = ({ url }: Sandbox): number => Number(new URL(url).port);

/** A line without its time, the day in a UTR, and how long the response took. */
const timeless = (line: string): string =>
  line
    .replace(/^[\d:.]+/, '<time>')
    .replace(/UTR \d{4}/, 'UTR <day>')
    .replace(/\d+ ms/, '<ms>');

test('tail shows requests and settlements, and follows a sandbox that goes away and comes back', async () => {
  const options = { clock: '2026-01-15T10:30:00Z', rateLimit: 'off' };
  const first = await startSandbox(options);
  onTestFinished(() => first.close());
  const proxy = await TcpProxy.to(portOf(first)); // an address that stays
  onTestFinished(() => proxy.close());
  const followed = session(`http://127.0.0.1:${proxy.port}`, 'sk_test_demo');
  const { lines, notes, stop } = tailOf(followed);
  await expect.poll(() => notes).toEqual([expect.stringMatching(/^following/)]);
  await followed.world.pay({ client_ref_id: 'order-1', amount: 1500.5 });
  await expect
    .poll(() => lines.join('\n'))
    .toMatch(/16:00:00\.000 {2}initiate {2}order-1 {2}₹1,500\.50 IMPS {2}200 PENDING/);
  await followed.world.clock.advance('1h');
  await expect
    .poll(() => lines.join('\n'))
    .toMatch(/16:00:02\.000 {2}settled {3}order-1 {2}SUCCESS {2}UTR \d+/);
  await followed.world.clock.advance('1d');
  await expect.poll(() => lines.at(-2)).toBe('2026-01-16');
  expect(lines.at(-1)).toMatch(/^17:00:00\.000 {2}clock/);
  proxy.targetPort = 1; // where nobody listens
  await first.close();
  await expect.poll(() => notes.at(-1)).toMatch(/^lost the connection to .*: waiting for it$/);
  const again = await startSandbox(options);
  onTestFinished(() => again.close());
  proxy.targetPort = portOf(again);
  await expect.poll(() => notes.at(-1)).toMatch(/is back$/);
  await stop();
  const [, shown] = /```\n(\d\d:.*?)```/s.exec(readFileSync('docs/cli.md', 'utf8'))!;
  const expected = shown!.trim().split('\n').map(timeless);
  expect(lines.map(timeless)).toEqual(expect.arrayContaining(expected));
});

test('tail says that something is missing when it loses a world that had no event so far', async () => {
  const sandbox = await startSandbox({ rateLimit: 'off' });
  onTestFinished(() => sandbox.close());
  const { apiKey, url, world } = clientOf(sandbox.world());
  const { lines, notes, stop } = tailOf(session(url, apiKey));
  await expect.poll(() => notes.at(-1)).toMatch(/^following/);
  await sandbox.dropWorld((await world.summary()).id);
  await expect.poll(() => notes.at(-1)).toBe(`${url} is back`);
  await expect.poll(() => lines.join('\n')).toContain('some events are no longer available');
  await stop();
});

test('tail tells an undo from a restore and a reset', async () => {
  const { world, url, apiKey } = await clientFor({ clock: '2026-01-15T10:30:00Z' });
  const { lines, notes, stop } = tailOf(session(url, apiKey));
  await expect.poll(() => notes).toHaveLength(1);
  await world.clock.advance('1h');
  await world.undo();
  await world.restore(await world.snapshot());
  await world.reset();
  await expect.poll(() => lines.at(-1)).toContain('reset');
  expect(lines.filter((line) => /^[\d:.]+ {2}(?:undo|restore|reset)/.test(line))).toEqual([
    '16:00:00.000  undo      took back the last action: advance',
    '16:00:00.000  restore   the world continues from a snapshot',
    '16:00:00.000  reset     the world begins again',
  ]);
  await stop();
});

test('Ctrl-C ends tail with exit code 0', async () => {
  const { url } = await sandboxFor();
  const program = new Program(process.execPath, [MAIN, 'tail', '--url', url], {});
  await once(program.child.stderr!, 'data'); // it says what it follows
  const { code, stdout, stderr } = await program.stop('SIGINT');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toMatch(
    /^payout-sandbox: following world \w+ at .*; it is \d{4}-\d\d-\d\d, times in IST; Ctrl-C to stop\n$/,
  );
});

test('tail names its world, and shows what is at risk until the client has seen it', async () => {
  const { client, url } = await sandboxFor({ clock: '2026-01-15T10:30:00Z' });
  const { apiKey, pay, status } = client();
  await connectSandbox({ url }).world({ apiKey, name: 'refunds' }).summary();
  const { lines, notes, stop } = tailOf(session(url, apiKey));
  await expect.poll(() => notes.join()).toContain(' (refunds) at ');
  await pay({ client_ref_id: '\u001b[2J\u202e\n::error::', amount: 1 });
  await pay({ client_ref_id: 'lost', amount: 1500, beneficiary_account: '9999100500' });
  await expect
    .poll(() => lines)
    .toContainEqual(
      expect.stringMatching(/^ +at risk {3}1 payout, ₹1,500\.00: made, but the client was not told$/),
    );
  await status({ client_ref_id: 'lost' });
  await expect.poll(() => lines).toContainEqual(expect.stringMatching(/^ +at risk {3}none$/));
  expect(lines.find((line) => line.includes('[2J'))).toMatch(/initiate +\ufffd\[2J\ufffd\ufffd::error::/);
  await stop();
});
