import { Session } from 'node:inspector/promises';
import type { Client } from './sandbox.ts';

const OWN_FILE = /\/src\/(.+\.ts)$/;

/** The files of src with a function that runs during `work`, as V8 counts calls. */
async function filesRun(work: () => Promise<unknown>): Promise<readonly string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ functions }) => functions.some(({ ranges }) => ranges[0]!.count > 0))
      .flatMap(({ url }) => OWN_FILE.exec(url)?.[1] ?? [])
      .toSorted();
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

/** The files of src with a function that runs for an initiate: those that run for each of several, since timers run too. */
export async function filesOfInitiate(client: Client): Promise<readonly string[]> {
  await client.pay(); // opens the world
  const runs = [];
  for (let nth = 2; nth <= 9; nth += 1) {
    runs.push(await filesRun(() => client.pay({ client_ref_id: `order-${nth}` })));
  }
  const [first, ...others] = runs.map((run) => new Set(run));
  return [...first!].filter((file) => others.every((run) => run.has(file)));
}
