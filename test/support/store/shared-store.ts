import type { TestProject } from 'vitest/node';
import { isNeeded, STORE } from '../what-tests-use.ts';
import { hasRedisServer, RedisServer } from './redis-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of a store for all tests of the project; empty where redis-server is missing. */
    storeUrl: string;
  }
}

/** Starts one store for all tests of a project that need one. */
export default async function startStore(project: TestProject): Promise<(() => Promise<void>) | void> {
  if (!hasRedisServer) {
    process.stderr.write('redis-server is not installed: the tests of worlds in a store are skipped\n');
    return project.provide('storeUrl', '');
  }
  if (process.env['TESTS'] !== 'long' && !isNeeded(project, STORE)) return;
  const server = await RedisServer.start();
  project.provide('storeUrl', server.url);
  return () => server.end();
}
