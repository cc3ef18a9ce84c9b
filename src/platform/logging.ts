import { once } from 'node:events';
import { pino, stdSerializers, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { maskAccount } from '../contract/service.ts';
import type { StoreObserver } from '../store/store-connection.ts';
import type { WorldObserver } from '../worlds/order.ts';
import type { Metrics } from './metrics.ts';
import type { LibraryObserver } from '../scenario/scenario-library.ts';
import type { Settings } from '../settings.ts';
import { iso } from '../contract/times.ts';

/** A key may contain a slash. Only in a path does a slash end it, so that the rest of the path stays readable. */
const KEY_LIKE = /sk_\S+/g;
const KEY_LIKE_IN_PATH = /sk_[^\s/]+/g;
const ACCOUNT_LIKE = /\d{9,}/g;
/** A word of digits alone, or before the @ of a UPI handle, may be an account number; one with a prefix, such as order-1700000000000, is kept. */
const ACCOUNT = /(?<!\S)\d{9,18}(?=$|[\s@])/g;
/** What every text has that something is hidden in, unless it is a known secret. Most have none, and every request has such a text. */
const SUSPECT = /%|sk_|\d{9}/;
const LONGEST_PATH = 128;
const LONGEST_READ_PATH = 1024;

/** Undoes percent-encoding of ASCII, however many times it was applied. */
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  const once = text.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return once === text ? text : decoded(once);
}

/** Makes functions that hide account numbers, keys and the admin token in what a client chose: path, reference and name of its world. */
function lineRedaction(secrets: readonly string[]) {
  const longestFirst = secrets.map(decoded).toSorted((a, b) => b.length - a.length); // one may be a part of another
  /**
   * Hides the known keys and the token. They go first, since they are not found once a part of them is hidden. What replaces one
   * that looks like a key still looks like a key, so that a longer key that begins with it is hidden too.
   */
  const withoutSecrets = (text: string): string => {
    const plain = decoded(text);
    const hidden = longestFirst.reduce(
      (rest, secret) => rest.replaceAll(secret, secret.startsWith('sk_') ? 'sk_***' : '***'),
      plain,
    );
    return hidden === plain ? text : hidden;
  };
  const redacted = (text: string, keys: RegExp, accounts: RegExp): string => {
    const hide = (shown: string): string =>
      shown.replaceAll(keys, 'sk_***').replaceAll(accounts, maskAccount);
    const shown = hide(withoutSecrets(text));
    const plain = decoded(shown);
    if (plain === shown) return shown;
    const hidden = hide(plain);
    return hidden === plain ? shown : hidden;
  };
  const chosen = (text: string): string =>
    secrets.length === 0 && !SUSPECT.test(text) ? text : redacted(text, KEY_LIKE, ACCOUNT);
  return {
    path: (path: string) =>
      redacted(path.slice(0, LONGEST_READ_PATH), KEY_LIKE_IN_PATH, ACCOUNT_LIKE).slice(0, LONGEST_PATH),
    client_ref_id: chosen,
    world_name: chosen,
  };
}

/** Escapes characters that end a line, control a terminal or change the direction of text: a reference may contain any. */
const escapeControls = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

/** A line without anything to escape, as most are. */
const ASCII_LINE = /^[ -~]*\n$/;

/** What is logged of an error. Its other fields may contain secrets: those of a store's client have the command, even a password. */
function loggedError(error: Error) {
  const { type, message, stack } = stdSerializers.err(error);
  return { type, message, stack };
}

/** How every line is written: without secrets and without control characters. */
export const logOptions = ({
  logLevel,
  apiKeys = [],
  adminToken,
}: Pick<Settings, 'logLevel' | 'apiKeys' | 'adminToken'>): LoggerOptions => ({
  level: logLevel,
  base: null,
  serializers: {
    ...lineRedaction(adminToken === undefined ? apiKeys : [...apiKeys, adminToken]),
    err: loggedError,
  },
  hooks: {
    streamWrite: (line) => (ASCII_LINE.test(line) ? line : `${escapeControls(line.trimEnd())}\n`), // JSON has the same escapes
  },
});

/** The most that the log buffers in memory for a reader that does not read. Lines past it are dropped. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

/** Lines are gathered up to this length or age, since a write costs more than fifty lines. A pipe holds as much as is written at once. */
const GATHERED_BYTES = 60 * 1024;
const WRITTEN_BYTES = 64 * 1024;
const GATHERED_MS = 50;

/** How long the stop waits for such a reader. */
const LAST_LINES_MS = 100;

interface Log {
  readonly log: Logger;
  /** Writes what is still buffered, unless nobody reads it. Nothing is logged afterwards. */
  readonly end: () => Promise<void>;
}

type Line = Readonly<Record<string, unknown>>;

const NOISE = new Set(['level', 'time', 'msg', 'err']);

const named = (name: string, value: unknown): string | false =>
  typeof value === 'string' && `${name} ${value}`;

/** The result of a request: `200 initiate order-1 TXN4058… 1.2 ms`, and the reason. */
const request = (line: Line): readonly unknown[] => [
  line['status'] ?? line['fault'] ?? 'no response',
  line['route'] ??
    (typeof line['path'] === 'string' ? `${String(line['method'])} ${line['path']}` : 'no request'),
  line['client_ref_id'],
  line['txn_id'],
  line['code'],
  line['replayed'] === true && 'replayed',
  named('rule', line['rule']),
  line['committed'] === true && 'committed',
  line['committed'] === false && 'not committed',
  named('limit', line['limit']),
  line['client_gone'] === true && 'client gone',
  typeof line['duration_ms'] === 'number' && `${line['duration_ms']} ms`,
  named('world', line['world']),
  Array.isArray(line['warnings']) && `warning: ${line['warnings'].join('; ')}`,
];

const anything = (line: Line): readonly unknown[] => [
  line['msg'],
  ...Object.entries(line)
    .filter(([key]) => !NOISE.has(key))
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`),
];

/** A line of the log for people: the same facts, without their field names. */
export function readableLine(line: Line): string {
  const isRequest = line['msg'] === 'request';
  const facts = isRequest ? request(line) : anything(line);
  const said = facts.filter((fact) => fact !== undefined && fact !== false && fact !== '');
  const text = said.map((fact) => escapeControls(String(fact))).join('  ');
  const { stack } = (line['err'] ?? {}) as { readonly stack?: string };
  if (stack === undefined || isRequest) return text;
  return `${text}  ${stack.split('\n').map(escapeControls).join('\n')}`;
}

/** The log on standard output: readable on a terminal; elsewhere JSON lines, which are gathered and written asynchronously. */
export async function standardLog(settings: Settings, pretty: boolean): Promise<Log> {
  const options = logOptions(settings);
  if (pretty) {
    const { default: prettyStream } = await import('pino-pretty'); // loaded only where it is used
    const stream = prettyStream({
      translateTime: 'HH:MM:ss',
      hideObject: true,
      messageFormat: readableLine,
      sync: true,
      colorize: !process.env['NO_COLOR'],
    });
    return { log: pino(options, stream as DestinationStream), end: () => Promise.resolve() };
  }
  let waitsForReader = true;
  let flush: NodeJS.Timeout | undefined;
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: GATHERED_BYTES,
    maxWrite: WRITTEN_BYTES,
    maxLength: MAX_BUFFERED_BYTES,
    retryEAGAIN: () => waitsForReader,
    contentMode: 'buffer',
  });
  destination.on('error', () => undefined); // the sandbox goes on without its log, as when its reader is gone or the disk is full
  const end = async (): Promise<void> => {
    log.level = 'silent'; // a connection that is cut at the very end may still log a line
    clearTimeout(flush);
    destination.flushSync = () => undefined; // pino calls it at exit, and it would never return when nobody reads
    const closed = once(destination, 'close', { signal: AbortSignal.timeout(LAST_LINES_MS) });
    destination.end();
    await closed.catch(() => undefined); // nobody reads, or the lines cannot be written
    waitsForReader = false;
  };
  // bytes are gathered in a list; gathering texts would copy all of them for each line
  const write = (line: string): boolean => {
    flush ??= setTimeout(() => {
      flush = undefined;
      destination.flush();
    }, GATHERED_MS).unref(); // `periodicFlush` would wake an idle sandbox twenty times a second
    return destination.write(Buffer.from(line) as unknown as string);
  };
  const log = pino(options, { write, flush: () => destination.flush() } as DestinationStream); // so that `log.flush()` writes
  return { log, end };
}

/** Writes one line when the store becomes unavailable, and one when it is back. */
export const observeStore = (log: Logger, metrics?: Metrics['store']): StoreObserver => ({
  away: (reason: string): void =>
    log.error({ reason }, 'the store cannot be used: requests get a 503 until it is back'),
  back: (awayMs: number): void => log.info({ away_ms: awayMs }, 'the store is back'),
  warning: (what: string): void => log.warn(`the store: ${what}`),
  calling: metrics?.calling,
});

/** Writes a line for each scenario file that has changed, and for each folder where changes are not noticed. */
export const observeScenarios = (log: Logger): LibraryObserver => ({
  reloaded: (file) =>
    log.info(
      { file },
      'scenario reloaded: a world that chose it keeps its former version until it chooses again',
    ),
  refused: (problems) => log.warn({ problems }, 'scenario refused: the last good one stays active'),
  unwatched: (folder, reason) =>
    log.warn({ folder, reason }, 'scenario folder not watched: POST /_sandbox/scenarios/reload reads it'),
});

/** Writes a line for each settlement, at debug since there are as many as requests, and for events of worlds. */
export const observeWorlds = (log: Logger, metrics?: Pick<Metrics, 'settled' | 'store'>): WorldObserver => ({
  settled: (worldId, change) => {
    metrics?.settled(change);
    if (!log.isLevelEnabled('debug')) return; // there may be a million of them
    const { txnId, clientRefId, from, to, atMs, utr } = change;
    log.debug(
      {
        world: worldId.slice(0, 8),
        txn_id: txnId,
        client_ref_id: clientRefId,
        from,
        to,
        at: iso(atMs),
        utr: utr ?? undefined,
      },
      'settlement',
    );
  },
  failed: (worldId, error) =>
    log.error({ world: worldId.slice(0, 8), err: error }, 'internal error in the sandbox'),
  dropped: (worldId, reason) => log.info({ world: worldId.slice(0, 8), reason }, 'world dropped'),
  lost: (worldId) => {
    metrics?.store?.lost();
    log.warn(
      { world: worldId.slice(0, 8) },
      'world lost: the store came back without it, or with older data',
    );
  },
});

/** Called for each world that was dropped with its ledger to make room: warns of the first, the tenth, the hundredth and so on. */
export function crowdedOutWarning(log: Logger): () => void {
  let worlds = 0;
  let next = 1;
  return () => {
    worlds += 1;
    if (worlds < next) return;
    next *= 10;
    log.warn(
      { worlds },
      'worlds that had been used were dropped to make room for newer ones: raise SANDBOX_MAX_WORLDS',
    );
  };
}

/** Says that memory is short, and that it no longer is. */
export const memoryWarning = (log: Logger) => (isShort: boolean) => {
  const what = isShort ? 'is short: requests are refused with SANDBOX_BUSY' : 'is no longer short';
  log.warn({ limit: 'SANDBOX_MAX_MEMORY' }, `memory ${what}`);
};
