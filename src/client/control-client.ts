import type { FieldError } from '../contract/errors.ts';

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

/** Nothing answers at the address of the sandbox. */
export class NoSandboxError extends Error {
  override readonly name = 'NoSandboxError';

  constructor(url: string, cause: unknown) {
    super(`no sandbox responds at ${url} (${reasonOf(cause)})`, { cause });
  }
}

/** Why `fetch` failed: a code such as ECONNREFUSED, which it hides in the cause of its error. */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  const { code, message: innermost } = (cause ?? {}) as { readonly code?: string; readonly message?: string };
  return code ?? innermost ?? message;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The query of a URL, without undefined parameters. */
function queryText(query: Query): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) given.set(name, String(value));
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
export async function textOf(response: Response, mostMib = LONGEST_MIB): Promise<string> {
  const { body, headers, url } = response;
  const most = mostMib * 1024 * 1024;
  if (Number(headers.get('content-length') ?? Infinity) <= most) return response.text(); // it has no more than it says
  const reader = body?.getReader(); // Safari has no `for await` over a stream
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done) return text + decoder.decode();
    bytes += value!.length;
    if (bytes > most) {
      await reader!.cancel();
      throw new Error(`${url} sends more than ${mostMib} MiB, which is not a response of a sandbox`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** The value of a text; undefined if it is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The message for a response of a proxy or another server instead of a sandbox. */
function foreignResponse({ status, headers, url }: Response): string {
  const type = headers.get('content-type')?.split(';', 1)[0] ?? 'no content type';
  return `${url} returned ${status} (${type}), which is not a response of a sandbox: is there a proxy or another server?`;
}

async function refusalOf(response: Response, call: Error, base: string): Promise<SandboxError> {
  const body = jsonIn(await textOf(response)) as Partial<SandboxError> | null | undefined;
  const reason = typeof body?.message === 'string' ? body.message : foreignResponse(response);
  // behind a proxy, an address may have a path: only the user knows whether this one is right
  const doubt = `. The request went to ${response.url}: is ${base} the address of the sandbox?`;
  const message = body?.code === 'ROUTE_NOT_FOUND' ? reason + doubt : reason;
  const refusal = new SandboxError(response.status, body?.code ?? 'UNKNOWN', message, body?.errors);
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
export const bearer = (token: string): string => {
  const bytes = String.fromCharCode(...new TextEncoder().encode(token));
  return `Bearer ${bytes.replaceAll(/[^ -~\u0080-\u00ff]/g, '\u00ff')}`;
};

/** A client of the control API with one token: the key of a world, or the admin token. */
export class ControlClient {
  readonly url: string;
  /** The numbers of the latest control actions of this client that can be undone, the newest last. */
  actions: readonly number[] = [];
  readonly #headers: Readonly<Record<string, string>>;

  /**
   * @param url the address of the sandbox: `http://127.0.0.1:3000`
   * @param worldName a name for the world of the key, sent with every call: a reset, a restore or another server needs no care
   */
  constructor(url: string, token: string, worldName = '') {
    this.url = url.replace(/\/+$/, '');
    const name = nameText(worldName);
    this.#headers = {
      authorization: bearer(token),
      ...(name !== '' && { 'x-sandbox-world-name': name }),
    };
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
  ): Promise<Response> {
    const call = new Error(''); // the stack of a later error would begin here; its text is made only for a refusal
    const headers = { ...this.#headers, ...init.headers };
    let response: Response;
    try {
      response = await fetch(`${this.url}/_sandbox${path}`, { ...init, method, headers });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new NoSandboxError(this.url, error);
    }
    if (!response.ok) throw await refusalOf(response, call, this.url);
    const action = response.headers.get('x-sandbox-action');
    if (action !== null) this.actions = [...this.actions.slice(1 - MOST_UNDONE), Number(action)];
    return response;
  }

  async #json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await this.open(method, path, body === undefined ? {} : json);
    const answer = jsonIn(await textOf(response));
    if (answer === undefined) {
      throw new SandboxError(response.status, 'UNKNOWN', foreignResponse(response));
    }
    return answer as T;
  }
}
