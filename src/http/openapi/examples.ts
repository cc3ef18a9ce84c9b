/** An example request to a route, and its response. */
export interface Example {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  /** Example bodies by name. `answer` is the response to the first. */
  readonly bodies?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly answer?: unknown;
}

/** By operationId. The examples are recorded: test/http/openapi/openapi-examples.test.ts sends them and writes the file. */
export type Examples = Readonly<Record<string, Example>>;
