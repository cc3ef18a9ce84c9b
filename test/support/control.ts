import type { Client, Seen } from './sandbox.ts';

/** Sends a request to the control API, as any HTTP client would. */
export const ask = (client: Client, method: string, path: string, body?: unknown): Promise<Seen> =>
  client.send(
    method,
    `/_sandbox${path}`,
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  );

/** The body of a refusal of the control API, with the invalid fields if there are any. */
export const refusal = (status: number, code: string, message: unknown, fields?: readonly string[]) => ({
  status,
  body: {
    status: 'error',
    code,
    message,
    ...(fields === undefined ? {} : { errors: fields.map((field) => ({ field })) }),
  },
});
