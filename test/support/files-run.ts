import { Session } from 'node:inspector/promises';
import type { Client } from './sandbox.ts';

const SRC = new URL('../../src/', import.meta.url).href;

/** What other servers of this worker do: on a slow machine, during each initiate. They look at the memory, and open or drop worlds of a store. */
const BESIDE: ReadonlySet<string> = new Set([
  'http/limits/pressure.ts',
  'platform/process-limits.ts',
  'store/scripts.ts',
]);

/** The files of src with a function that runs for an initiate: those that run for each of twenty, since timers run too. */
export async function filesOfInitiate(client: Client): Promise<readonly string[]> {
  await client.pay(); // opens the world
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    const runs: Set<string>[] = [];
    for (let nth = 2; nth <= 21; nth += 1) {
      await session.post('Profiler.takePreciseCoverage'); // counts from here
      await client.pay({ client_ref_id: `order-${nth}` });
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const run = result.filter(({ functions }) => functions.some(({ ranges }) => ranges[0]!.count > 0));
      runs.push(new Set(run.flatMap(({ url }) => (url.startsWith(SRC) ? [url.slice(SRC.length)] : []))));
    }
    const isOfEach = (file: string): boolean => runs.every((run) => run.has(file)) && !BESIDE.has(file);
    return [...runs[0]!].filter(isOfEach).toSorted();
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}
