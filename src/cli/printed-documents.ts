import { pino } from 'pino';
import { z } from 'zod';
import { buildApp } from '../app.ts';
import { ScenarioDocument } from '../contract/scenario-document.ts';
import { systemClock } from '../platform/system-clock.ts';
import { readSettings } from '../settings.ts';

const indented = (value: unknown): string => JSON.stringify(value, null, 2);

/** `payout-sandbox schema`: the JSON Schema of a scenario file, for editors. fixtures/scenario.schema.json is the same. */
export const scenarioSchema = (): string => indented(z.toJSONSchema(ScenarioDocument, { io: 'input' }));

/** `payout-sandbox openapi`: the document that every sandbox serves at /_sandbox/openapi.json. */
export async function openapiDocument(): Promise<string> {
  const log = pino({ level: 'silent' });
  const { app, openapi } = await buildApp({ settings: readSettings({}, {}), wallClock: systemClock(), log });
  await app.ready();
  try {
    return indented(JSON.parse(await openapi()));
  } finally {
    await app.close();
  }
}
