import { z } from 'zod';
import { ScenarioDocument } from '../contract/scenario-document.ts';

/** The JSON Schema of a scenario file, for editors: `payout-sandbox schema`, and fixtures/scenario.schema.json. */
export const scenarioJsonSchema = (): string =>
  `${JSON.stringify(z.toJSONSchema(ScenarioDocument, { io: 'input' }), null, 2)}\n`;
