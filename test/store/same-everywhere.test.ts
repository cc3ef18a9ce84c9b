import { expect, test } from 'vitest';
import { storedLogsFor, WORLD } from '../support/store/stored-log.ts';
import { save } from '../support/world/core.ts';

/** A value whose fields, at all depths, are in the reverse order. */
const reversed = <T>(value: T): T =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (Object.fromEntries(
        Object.entries(value)
          .map(([name, one]) => [name, reversed(one)])
          .toReversed(),
      ) as T)
    : value;

test('a snapshot has the same bytes at every server, whatever the order of the fields in what one of them was told', async () => {
  const { one, other } = await storedLogsFor();
  const world = await one.use(WORLD);
  const source = reversed(world.latest.scenario.source);
  const rule = { effect: { respond: { headers: { b: '1', a: '2' }, status: 500 } }, name: 'odd', match: {} };
  for (const command of [
    { kind: 'choose', source, isChosen: true } as const,
    { kind: 'putRule', rule } as const,
    { kind: 'reset', source } as const,
    { kind: 'follow', source } as const,
  ]) {
    await world.submit(command);
    await (await other.use(WORLD)).read(() => null);
    const [here, there] = [one, other].map((log) => JSON.stringify(save(log.known(WORLD)!.latest)));
    expect(there).toBe(here);
  }
});
