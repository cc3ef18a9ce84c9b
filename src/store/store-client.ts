import { Cluster, Redis, type RedisOptions } from 'iovalkey';
import { STORE_TIMES } from './store-times.ts';

export type Client = Redis | Cluster;

const AGAIN_AFTER_MS = 25;
const LONGEST_PAUSE_MS = 500; // between attempts to connect

/** The client library sends nothing again: a call that is under way when a connection breaks fails, and the caller decides. */
const COMMON: RedisOptions = {
  connectTimeout: STORE_TIMES.answerWithin,
  socketTimeout: 2 * STORE_TIMES.answerWithin, // a connection that has gone silent is replaced
  maxLoadingRetryTime: LONGEST_PAUSE_MS, // a store that reads its file may say that it takes much longer than it does
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  retryStrategy: (times) => Math.min(times * AGAIN_AFTER_MS, LONGEST_PAUSE_MS),
};

/** @param text `redis://`, `rediss://` or `redis+cluster://` */
export function clientFor(text: string, options: RedisOptions = {}): Client {
  if (!text.startsWith('redis+cluster:')) return oneServer(text, options);
  const { username, password, hosts } = clusterAddress(text);
  return new Cluster(
    hosts.map(({ hostname: host, port }) => ({ host, port: Number(port || 6379) })),
    {
      redisOptions: { ...COMMON, ...options, username, password },
      enableOfflineQueue: false, // a call would wait there for as long as the cluster is away: the start of a server, too
      clusterRetryStrategy: (times) => Math.min(times * AGAIN_AFTER_MS, LONGEST_PAUSE_MS),
      slotsRefreshTimeout: STORE_TIMES.answerWithin,
    },
  );
}

/** Ends each connection on which the database of the address cannot be used: the client library would use database 0 instead. */
function oneServer(text: string, options: RedisOptions): Redis {
  let isRefused = false;
  const client = new Redis(text, {
    ...COMMON,
    ...options,
    // such a connection became ready, so the client library counts its attempts from 1 again
    retryStrategy: (times) => (isRefused ? LONGEST_PAUSE_MS : COMMON.retryStrategy!(times)),
  });
  client.on('connect', () => (isRefused = false));
  client.on('error', (error: Error & { readonly command?: { readonly name: string } }) => {
    if (error.command?.name !== 'select') return;
    isRefused = true;
    client.disconnect(true);
  });
  return client;
}

export const NO_CLUSTER = 'no node of the cluster responds, or its cluster_state is not ok';
const UNREADY = "Cluster isn't ready";
const CUT = 'Reached the max retries';
const NO_REASON = new RegExp(`^(?:${UNREADY}|${CUT})`);

/**
 * Why a store cannot be used, in words for its operator.
 *
 * @param message of the call that failed, often without the reason
 * @param connectionError why the latest attempt to connect failed
 * @param wasReached without it, the address may be wrong
 */
export function reasonOf(
  message: string,
  url: string,
  connectionError: string | null,
  wasReached: boolean,
): string {
  const reason = NO_REASON.test(message) ? (connectionError ?? message) : message;
  if (reason.startsWith(UNREADY)) return NO_CLUSTER;
  if (reason.startsWith(CUT)) {
    const isPlain = !wasReached && url.startsWith('redis:');
    return `it closed the connection before it replied${isPlain ? ': if it uses TLS, write rediss://' : ''}`;
  }
  const isSilent = !wasReached && url.startsWith('rediss:') && reason.startsWith('no response');
  return isSilent ? `${reason}: if it does not use TLS, write redis://` : reason;
}

/**
 * Ends a connection for good. In the middle of a TLS handshake, the store answers that with an alert, and the client library
 * listens no more: an error that nobody listens to would end the process.
 */
export function disconnect(client: Client): void {
  const nodes = client instanceof Cluster ? client.nodes() : [client];
  for (const { stream } of nodes) stream?.on('error', () => undefined);
  client.disconnect();
}

/** `redis+cluster://user:password@one:6379,two:6379` */
function clusterAddress(text: string) {
  const [, account, list] = /^redis\+cluster:\/\/(?:(.*)@)?([^/]*)/.exec(text)!;
  const { username, password } = new URL(`redis://${account ?? ''}@host`);
  const hosts = list!.split(',').map((host) => new URL(`redis://${host}`));
  return { username: decodeURIComponent(username), password: decodeURIComponent(password), hosts };
}
