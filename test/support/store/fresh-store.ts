import { Redis } from 'iovalkey';
import { inject, onTestFinished } from 'vitest';
import { TcpProxy } from '../http/tcp-proxy.ts';
import { RedisServer } from './redis-server.ts';

/** The address of a database that no other test uses: the store itself counts them, since several processes ask. */
export async function freshStore(): Promise<string> {
  const url = inject('storeUrl');
  const client = new Redis(url);
  try {
    return `${url}/${await client.incr('databases given out')}`;
  } finally {
    client.disconnect();
  }
}

/** A store that only this test uses. @param flags more than usual */
export async function ownStore(...flags: string[]): Promise<RedisServer> {
  const store = await RedisServer.start(...flags);
  onTestFinished(() => store.end());
  return store;
}

/** What a test asks a store itself. It connects with its first command. */
export function redisAt(url: string): Redis {
  const client = new Redis(url, { lazyConnect: true });
  onTestFinished(() => client.disconnect());
  return client;
}

/** A proxy before a store of this test, and the address of the store behind it. @param user as in an address: `:secret@` */
export async function proxyBefore({ port }: RedisServer, user = '') {
  const proxy = await TcpProxy.to(port);
  onTestFinished(() => proxy.close());
  return { proxy, url: `redis://${user}127.0.0.1:${proxy.port}` };
}
