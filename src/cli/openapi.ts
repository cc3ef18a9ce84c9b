import { pino } from 'pino';
import { buildApp } from '../app.ts';
import { systemClock } from '../platform/system-clock.ts';
import { readSettings } from '../settings.ts';

/** `payout-sandbox openapi`: the document that every sandbox serves at /_sandbox/openapi.json, indented. */
export async function openapiJson(): Promise<string> {
  const settings = readSettings({}, {});
  const { app, openapi } = await buildApp({
    settings,
    wallClock: systemClock(),
    log: pino({ level: 'silent' }),
  });
  await app.ready();
  try {
    return `${JSON.stringify(JSON.parse(await openapi()), null, 2)}\n`;
  } finally {
    await app.close();
  }
}
