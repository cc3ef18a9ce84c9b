import { bearer } from './control-client.ts';
import { textOf } from './response-text.ts';

/** A response of the service, as a client would have got it. */
export interface ServiceResponse {
  /** null if the response has none. */
  readonly client_ref_id: string | null;
  /** null if the response has none. */
  readonly txn_id: string | null;
  /** HTTP status. */
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; as text if it is not JSON. */
  readonly body: unknown;
}

export interface ServiceCallInit {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

interface ServiceCall extends ServiceCallInit {
  readonly path: string;
  /** Makes the call a POST. */
  readonly body?: object;
}

/** Calls a route of the service with the key of a world. If a fault breaks the connection, it rejects as `fetch` does. */
export async function callService(
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
  { path, body: sent, headers: own, ...init }: ServiceCall,
): Promise<ServiceResponse> {
  const response = await fetch(url + path, {
    ...init,
    method: sent === undefined ? 'GET' : 'POST',
    headers: {
      authorization: bearer(apiKey),
      ...(sent !== undefined && { 'content-type': 'application/json' }),
      ...own,
    },
    ...(sent !== undefined && { body: JSON.stringify(sent) }),
  });
  const { status, headers } = response;
  const text = await textOf(response);
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // a response that a rule made, such as the page of a gateway
  }
  const { data } = (body ?? {}) as {
    readonly data?: Partial<Pick<ServiceResponse, 'client_ref_id' | 'txn_id'>>;
  };
  return { client_ref_id: data?.client_ref_id ?? null, txn_id: data?.txn_id ?? null, status, headers, body };
}
