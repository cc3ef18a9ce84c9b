import type { FieldError } from '../contract/errors.ts';
import { SANDBOX_HEADER } from '../contract/words.ts';

/** An error of the control API. The message says what would have been valid. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  /** HTTP status. */
  readonly status: number;
  /** `INVALID_REQUEST`, `ILLEGAL_TRANSITION` … (docs/control-api.md). */
  readonly code: string;
  readonly errors: readonly FieldError[];

  constructor(status: number, code: string, message: string, errors: readonly FieldError[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

/** Nothing, or something else, responds at the address of the sandbox. */
export class NoSandboxError extends Error {
  override readonly name = 'NoSandboxError';
}

/** Why a request failed: a code such as ECONNREFUSED, which `fetch` hides in the cause of its error. */
export function reasonOf(error: unknown): string {
  const { cause = error } = error as Error;
  const { code, message } = cause as { readonly code?: string; readonly message?: string };
  return code ?? message ?? String(error);
}

/** The headers of a response by their names, in any case. Several of one name are joined by a comma. */
export interface ResponseHeaders extends Iterable<[name: string, value: string]> {
  get(name: string): string | null;
  has(name: string): boolean;
}

/** A response whose body is not read yet. */
export interface HttpResponse {
  readonly url: string;
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Leaving the loop over it ends the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the connection of a response that is not read to its end. */
  readonly cancel: () => void;
}

/** Sends an HTTP request. Rejects if no response comes, and with the reason of the signal. */
export type Send = (
  url: string,
  request: {
    readonly method: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly signal?: AbortSignal;
  },
) => Promise<HttpResponse>;

/** A response of the service, as a client would have got it. */
export interface ServiceResponse {
  /** null if the response has none. */
  readonly client_ref_id: string | null;
  /** null if the response has none. */
  readonly txn_id: string | null;
  /** HTTP status. */
  readonly status: number;
  readonly headers: ResponseHeaders;
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

type Query = Readonly<Record<string, string | number | boolean | Date | undefined>>;

/** The query of a URL, without undefined parameters. */
export function queryText(query: Query): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) given.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const text = given.toString();
  return text === '' ? '' : `?${text}`;
}

/** The folder of a frame of a stack, which is written `at file:///folder/file.ts:1:2` or `at name (/folder/file.ts:1:2)`. */
const FOLDER = /[^ (]*[\\/](?=[^\\/]+$)/;

/**
 * The stack of a call without this library: it begins with the line of the test. The error is made before the first `await`, since
 * the stack of a later one would begin there.
 */
export function callerFrames(call = new Error('')): string {
  const frames = call.stack!.split('\n').slice(1);
  const [own] = FOLDER.exec(frames[0] ?? '') ?? [];
  return frames.filter((frame) => own === undefined || !frame.includes(own)).join('\n');
}

/** The longest response that a client reads, in MiB: a page of the longest requests has a third of that. */
export const LONGEST_MIB = 64;
/** The longest snapshot, in MiB. */
export const LONGEST_SNAPSHOT_MIB = 512;

/** The body of a response as text. @throws Error for more than `mostMib`, of which no more is read */
export async function textOf({ body, url }: HttpResponse, mostMib = LONGEST_MIB): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > mostMib * 1024 * 1024)
      throw new Error(`${url} sends more than ${mostMib} MiB, which is not a response of a sandbox`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** The value of a text; undefined if it is not JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Refuses a response of anything but a sandbox: nothing that it says was done has been done. @throws NoSandboxError */
export function checkSandbox({ status, headers, url, cancel }: HttpResponse, address: string): void {
  if (headers.has(SANDBOX_HEADER)) return;
  cancel();
  const type = headers.get('content-type')?.split(';', 1)[0] ?? 'no content type';
  throw new NoSandboxError(
    `${url} returned ${status} (${type}), which is not a response of a sandbox: the address ${address} leads elsewhere`,
  );
}

async function refusalOf(response: HttpResponse, call: Error): Promise<SandboxError> {
  const { code, message, errors } = JSON.parse(await textOf(response)) as SandboxError;
  const refusal = new SandboxError(response.status, code, message, errors);
  refusal.stack = `${refusal.name}: ${message}\n${callerFrames(call)}`;
  return refusal;
}

/** The most items that the sandbox returns at once. */
export const LONGEST_PAGE = 1000;
/** The most control actions that can be undone. */
const MOST_UNDONE = 10;
const LONGEST_NAME = 120;

/** A name of a world as the sandbox accepts it: the title of a test may have more characters, and other ones. */
const nameText = (name: string): string =>
  name
    .replaceAll(/[^ -~]+/g, '-')
    .slice(0, LONGEST_NAME)
    .trim();

/**
 * The header for a token, as bytes and without control characters: fetch refuses others with an error that shows the token, and the
 * sandbox says what is wrong with it.
 */
const bearer = (token: string): string => {
  const bytes = String.fromCharCode(...new TextEncoder().encode(token));
  return `Bearer ${bytes.replaceAll(/[^ -~\u0080-\u00ff]/g, '\u00ff')}`;
};

/** A client of the control API with one token: the key of a world, or the admin token. */
export class ControlClient {
  readonly url: string;
  /** The numbers of the latest control actions of this client that can be undone, the newest last. */
  actions: readonly number[] = [];
  readonly send: Send;
  readonly #authorization: string;
  readonly #name: string;

  /**
   * @param send of Node.js or of a browser
   * @param url the address of the sandbox: `http://127.0.0.1:3000`
   * @param worldName a name for the world of the key, sent with every call: a reset, a restore or another server needs no care
   */
  constructor(send: Send, url: string, token: string, worldName = '') {
    this.send = send;
    this.url = url.replace(/\/+$/, '');
    this.#authorization = bearer(token);
    this.#name = nameText(worldName);
  }

  get<T>(path: string, query: Query = {}): Promise<T> {
    return this.#json<T>('GET', path + queryText(query));
  }

  /** All items of a list, page by page. @param name the field of a page that has its items */
  async all<Item>(path: string, name: string, query: Query = {}): Promise<readonly Item[]> {
    const items: Item[] = [];
    let next: number | undefined;
    do {
      const page = await this.get<Record<string, unknown>>(path, {
        ...query,
        limit: LONGEST_PAGE,
        cursor: next,
      });
      items.push(...(page[name] as readonly Item[]));
      next = (page['next'] ?? undefined) as number | undefined;
    } while (next !== undefined);
    return items;
  }

  post<T>(path: string, body?: unknown): Promise<T> {
    return this.#json<T>('POST', path, body);
  }

  put<T>(path: string, body: unknown): Promise<T> {
    return this.#json<T>('PUT', path, body);
  }

  delete<T>(path: string): Promise<T> {
    return this.#json<T>('DELETE', path);
  }

  /** Sends a request, and returns the response with its body unread. @throws SandboxError for an error of the API */
  async open(
    method: string,
    path: string,
    init: {
      readonly headers?: Record<string, string>;
      readonly body?: string;
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<HttpResponse> {
    const call = new Error(''); // the stack of a later error would begin here; its text is made only for a refusal
    const headers = {
      authorization: this.#authorization,
      ...(this.#name !== '' && { 'x-sandbox-world-name': this.#name }),
      ...init.headers,
    };
    let response: HttpResponse;
    try {
      response = await this.send(`${this.url}/_sandbox${path}`, { ...init, method, headers });
    } catch (cause) {
      if (init.signal?.aborted) throw cause;
      throw new NoSandboxError(`no sandbox responds at ${this.url} (${reasonOf(cause)})`, { cause });
    }
    checkSandbox(response, this.url);
    if (response.status >= 400) throw await refusalOf(response, call);
    const action = response.headers.get('x-sandbox-action');
    if (action !== null) this.actions = [...this.actions.slice(1 - MOST_UNDONE), Number(action)];
    return response;
  }

  /** Calls a route of the service. @throws TypeError, as `fetch` does, if a fault breaks the connection */
  async service({ path, body: sent, headers: own, ...init }: ServiceCall): Promise<ServiceResponse> {
    let response: HttpResponse;
    let text: string;
    try {
      response = await this.send(this.url + path, {
        ...init,
        method: sent === undefined ? 'GET' : 'POST',
        headers: {
          authorization: this.#authorization,
          ...(sent !== undefined && { 'content-type': 'application/json' }),
          ...own,
        },
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
      });
      text = await textOf(response);
    } catch (cause) {
      if (init.signal?.aborted) throw cause;
      throw new TypeError(`the connection broke before the response (${reasonOf(cause)})`, { cause });
    }
    const { status, headers } = response;
    const value = jsonIn(text);
    const body = value === undefined ? text : value; // text if a rule made it, such as the page of a gateway
    const { data } = (body ?? {}) as { readonly data?: Partial<ServiceResponse> };
    const { client_ref_id = null, txn_id = null } = data ?? {};
    return { client_ref_id, txn_id, status, headers, body };
  }

  async #json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await this.open(method, path, body === undefined ? {} : json);
    return JSON.parse(await textOf(response)) as T;
  }
}
