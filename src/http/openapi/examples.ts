/** What a route is asked in the document, and what it then answers. */
export interface Example {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Bodies by a word for what they are for. The first is the one that `answer` answers. */
  readonly bodies?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly answer?: unknown;
}

/** By operationId. Each was asked and answered once: test/openapi-examples.test.ts asks again, and writes the file. */
export type Examples = Readonly<Record<string, Example>>;
