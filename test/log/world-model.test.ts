import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Model } from '../support/world/model.ts';
import { sandboxFor } from '../support/sandbox.ts';
import { START } from '../support/world/ways-in.ts';
import { anyCommands, OPENING_PAISE } from '../support/world/world-commands.ts';
import { sized } from '../support/size.ts';

test('a world behaves like a model of it under any sequence of commands', async () => {
  const { client } = await sandboxFor({ clock: START, openingBalance: String(OPENING_PAISE / 100) });
  const both = () => ({
    model: { model: new Model(Date.parse(START), OPENING_PAISE) },
    real: { client: client(), kept: null },
  });
  const property = fc.asyncProperty(anyCommands, (commands) => fc.asyncModelRun(both, commands));
  await expect(fc.assert(property, { numRuns: sized(20, 100) })).resolves.toBeUndefined();
});
