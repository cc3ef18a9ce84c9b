export type Json = any; // oxlint-disable-line typescript/no-explicit-any -- tests read documents freely

interface Operation {
  readonly operationId: string;
  readonly security: readonly Record<string, unknown>[];
  readonly parameters?: Json;
  readonly requestBody?: Json;
  readonly responses: Json;
}

/** An operation of an OpenAPI document. */
export interface Call {
  /** In capital letters. */
  readonly method: string;
  /** `/_sandbox/transactions/{txn_id}` */
  readonly path: string;
  readonly operation: Operation;
}

/** The document that a sandbox serves, requested without a key. */
export const openapiAt = async (url: string): Promise<string> =>
  (await fetch(`${url}/_sandbox/openapi.json`)).text();

/** All calls of a document. */
export const callsOf = (document: Json): readonly Call[] =>
  Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
