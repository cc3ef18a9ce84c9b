import { pino } from 'pino';
import { openapiOf } from '../server.ts';
import { readSettings } from '../settings.ts';
import { systemClock } from '../platform/system-clock.ts';

/** `payout-sandbox openapi`: the document, as every sandbox serves it at /_sandbox/openapi.json, for eyes and for diffs. */
export async function openapiJson(): Promise<string> {
  const text = await openapiOf(readSettings({}, {}), systemClock(), pino({ level: 'silent' }));
  return `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
}
