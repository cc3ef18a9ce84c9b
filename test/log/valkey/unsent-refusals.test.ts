import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import type { SettingsInput } from '../../../src/index.ts';
import { Refusal } from '../../../src/contract/errors.ts';
import { OrderedCommand } from '../../../src/log/command-parts.ts';
import { UnsentRefusals } from '../../../src/log/unsent-refusals.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { clientOf } from '../../support/sandbox.ts';
import { freshStore } from '../../support/store/fresh-store.ts';
import { loseReplies } from '../../support/store/scripts-run.ts';
import { withoutPatience } from '../../support/store/store-times.ts';
import { serverFor } from '../../support/server.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';
import type { Command, CommandOf } from '../../../src/world/commands.ts';

const MOST_UNSENT = 1000;
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** The remarks of a large request. */
const LARGE = 60_000;

async function serverWithStore(input: SettingsInput = {}) {
  const settings = { metrics: 'on', store: await freshStore(), ...input } as const;
  const server = await serverFor(settings, systemClock());
  const client = clientOf(server.sandbox.world('sk_test_unsent'));
  const refuse = async (count: number, characters = 0): Promise<void> => {
    const remarks = 'x'.repeat(characters);
    for (let nth = 0; nth < count; nth += 1) {
      const { status } = await client.pay({ client_ref_id: `refused-${nth}`, amount: -1, remarks });
      expect(status).toBe(400);
    }
  };
  const dropped = () => server.logged.filter(({ msg }) => /refused while the store/.test(String(msg)));
  return { client, refuse, dropped, server };
}

/** @returns when refusals were sent again for the first time */
function watchResending(): () => number {
  const due: UnsentRefusals['due'] = UnsentRefusals.prototype.due; // oxlint-disable-line typescript/unbound-method -- called with its object
  let sentMs: number | undefined;
  const spy = vi.spyOn(UnsentRefusals.prototype, 'due').mockImplementation(function (
    this: UnsentRefusals,
    sender,
  ) {
    const items = due.call(this, sender);
    if (items.length > 0) sentMs ??= Date.now();
    return items;
  });
  onTestFinished(() => spy.mockRestore());
  return () => sentMs!;
}

describe.skipIf(inject('storeUrl') === '')('a request that is refused while the store is away', () => {
  test.each([
    ['and its command did not arrive', false],
    ['and the reply to its command was lost', true],
  ])('%s: is listed once when the store is back, without another request', async (_what, runs) => {
    const { client, refuse, server, dropped } = await serverWithStore();
    expect((await client.balance()).status).toBe(200);
    const [world] = await server.worlds.ids();
    const back = loseReplies(runs);
    const sentMs = watchResending();
    await withoutPatience(async () => {
      await refuse(3);
      expect((await client.pay({ client_ref_id: 'lost' })).status).toBe(503);
    });
    const refusedUntilMs = Date.now();
    back();
    const known = async () =>
      server.worlds.visit(world!, async ({ latest }) =>
        latest.requests.list.map(({ clientRefId }) => clientRefId),
      );
    const refused = ['refused-0', 'refused-1', 'refused-2'];
    await expect.poll(known).toEqual(expect.arrayContaining(refused));
    const listed = (await client.world.requests()).filter(({ answer }) => answer?.status === 400);
    expect(listed.map(({ client_ref_id }) => client_ref_id)).toEqual(refused);
    const onItsWayMs = Date.now() - sentMs(); // a command is dated by the store, less the time until it was sent
    for (const { wall_at } of listed)
      expect(Date.parse(wall_at)).toBeLessThanOrEqual(refusedUntilMs + onItsWayMs);
    expect(dropped()).toEqual([]);
  });

  test('finds no room after 8 MiB of others: it is dropped, and the log and the metrics count it', async () => {
    const { client, refuse, dropped } = await serverWithStore({ journalMemory: '256MiB' });
    expect((await client.balance()).status).toBe(200);
    let back = loseReplies(false);
    const sent = Math.ceil(MOST_CHARACTERS / LARGE) + 2;
    await withoutPatience(() => Promise.all(Array.from({ length: sent }, () => refuse(1, LARGE))));
    back();
    await expect.poll(dropped).toMatchObject([{ level: 40, count: expect.any(Number) }]);
    const count = Number(dropped()[0]!['count']);
    const listed = async () =>
      (await client.world.requests()).filter(({ answer }) => answer?.status === 400).length;
    expect([await listed(), count > 0]).toEqual([sent - count, true]);
    const metrics = await (await fetch(`${client.url}/_sandbox/metrics`)).text();
    expect(metrics).toContain(`payout_sandbox_store_refusals_dropped_total ${count}`);
    back = loseReplies(false);
    await withoutPatience(() => refuse(1)); // there is room again
    back();
    await expect.poll(() => listed().catch(() => 0)).toBe(sent - count + 1);
    expect(dropped()).toHaveLength(1);
  });
});

/** Refusals that no store has got. */
function keptRefusals() {
  const clock = new ManualClock();
  const dropped: number[] = [];
  const unsent = new UnsentRefusals(clock, (count) => void dropped.push(count));
  const sender = { follow: () => Promise.resolve(), inBackground: () => undefined };
  const keep = (number: number, sinceMs: number, url = '/'): boolean => {
    const command = { kind: 'refused', request: { url, waitedMs: 5 }, refused: { code: 'INVALID_JSON' } };
    const stamp = {} as OrderedCommand['stamp'];
    const item = new OrderedCommand(number, command as unknown as Command, stamp, undefined, sinceMs);
    return unsent.keep(sender, item, new Refusal('STORE_UNAVAILABLE'));
  };
  return { clock, unsent, sender, keep, dropped };
}

test('a thousand refusals wait; those that find no room are counted once the others are sent, which make room again', () => {
  const { unsent, sender, keep, dropped } = keptRefusals();
  const url = 'x'.repeat(MOST_CHARACTERS / MOST_UNSENT - 200); // two thousand would be too many characters, too
  for (const before of [[], [2]]) {
    const kept = Array.from({ length: MOST_UNSENT + 2 }, (_, number) => keep(number, 0, url));
    expect(kept.filter((isKept) => isKept)).toHaveLength(MOST_UNSENT);
    for (let number = 0; number < MOST_UNSENT; number += 1) {
      expect(dropped).toEqual(before);
      unsent.remove(sender, number);
    }
    expect(dropped).toEqual([...before, 2]);
  }
});

test('a refusal says for how long it has waited since it was made, even after the clock was set back', async () => {
  const { clock, unsent, sender, keep } = keptRefusals();
  const madeMs = clock.nowMs();
  await clock.pass(2000); // behind a call that fails
  for (const [number, sinceMs] of [madeMs, madeMs + 60_000].entries()) keep(number, sinceMs);
  await clock.pass(1000);
  const waited = unsent.due(sender).map(({ command }) => (command as CommandOf<'refused'>).request.waitedMs);
  expect(waited).toEqual([3005, 5]);
});
