import { z } from 'zod';

/** A JSON Schema 2020-12, which is what OpenAPI 3.1 has for schemas. */
export type JsonSchema = { readonly [key: string]: unknown };

/** A time is told by its format; the expression by which zod knows the days of a leap year helps no reader. */
function readable({ jsonSchema: schema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (schema.format === 'date-time') delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/** What zod had to name by itself, since it holds itself, is z.json(): any value. Said so, since generators fail at the knot. */
const OWN_NAME = '__schema';
const ANY_JSON = /\{"\$ref":"#\/\$defs\/__schema\d+"\}/g;

const inComponents = (schema: object): string =>
  JSON.stringify(schema).replaceAll(ANY_JSON, '{}').replaceAll('"#/$defs/', '"#/components/schemas/');

/**
 * The schemas of the document, written by zod itself: those that have an id stand once, under the components.
 *
 * zod's own `toJSONSchema` is in the bundle already and does all that is asked for here. zod-openapi wants a later Node.js
 * than the sandbox does, and @fastify/swagger would want every route registered again on an instance of its own.
 */
export class JsonSchemas {
  readonly #shared = new Map<string, string>();

  /** @param io what a request may have (`input`), or what an answer has (`output`) */
  of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const { $schema: _, $defs = {}, ...own } = z.toJSONSchema(schema, { io, override: readable });
    for (const [name, shared] of Object.entries($defs)) {
      if (name.startsWith(OWN_NAME)) continue;
      const text = inComponents(shared);
      if ((this.#shared.get(name) ?? text) !== text) throw new Error(`two schemas are called ${name}`);
      this.#shared.set(name, text);
    }
    return JSON.parse(inComponents(own)) as JsonSchema;
  }

  /** All that were met and have an id, by it. */
  get components(): Record<string, JsonSchema> {
    const sorted = [...this.#shared].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([name, text]) => [name, JSON.parse(text) as JsonSchema]));
  }
}
