import type { Client, Seen } from './sandbox.ts';

/** Asks the control API for something, as any HTTP client would. */
export const ask = (client: Client, method: string, path: string, body?: unknown): Promise<Seen> =>
  client.send(
    method,
    `/_sandbox${path}`,
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  );

/** What the control API refuses with: the envelope, and the fields at fault where there are any. */
export const refusal = (status: number, code: string, message: unknown, fields?: readonly string[]) => ({
  status,
  body: {
    status: 'error',
    code,
    message,
    ...(fields === undefined ? {} : { errors: fields.map((field) => ({ field })) }),
  },
});
