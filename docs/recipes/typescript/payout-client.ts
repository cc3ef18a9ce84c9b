// The payout client under test: replace it with yours. Its types come from the OpenAPI document of the sandbox.
import { setTimeout as pause } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { paths } from './sandbox-api.js';

type Initiate = paths['/payout/initiate']['post'];
export type Payout = Initiate['requestBody']['content']['application/json'];
export type Paid = Initiate['responses'][200]['content']['application/json']['data'];

export interface Service {
  readonly url: string;
  readonly apiKey: string;
}

/** Makes a payout. When nobody knows whether it was made, the same reference is sent again, which cannot pay twice. */
export async function pay({ url, apiKey }: Service, payout: Payout, tries = 3): Promise<Paid> {
  const client = createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${apiKey}` } });
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const lost = { data: undefined, error: undefined, response: undefined };
    const request = { body: payout, signal: AbortSignal.timeout(8000) };
    const { data, error, response } = await client.POST('/payout/initiate', request).catch(() => lost);
    if (data !== undefined) return data.data;
    if (response !== undefined && response.status < 500) throw new Error(`${error.code}: ${error.message}`);
    await pause(50 * 2 ** attempt);
  }
  throw new Error(`the outcome of ${payout.client_ref_id} is unknown: read its status later`);
}
