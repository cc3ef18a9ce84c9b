import type { TestProject } from 'vitest/node';
import { hasRedisServer, RedisServer } from './redis-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of a store for all tests of the project; empty where redis-server is missing. */
    storeUrl: string;
  }
}

/** Starts one store for all tests of a project. */
export default async function startStore(project: TestProject): Promise<(() => Promise<void>) | void> {
  if (!hasRedisServer) {
    process.stderr.write('redis-server is not installed: the tests of worlds in a store are skipped\n');
    return project.provide('storeUrl', '');
  }
  const server = await RedisServer.start();
  project.provide('storeUrl', server.url);
  return () => server.end();
}
