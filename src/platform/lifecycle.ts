import type { FastifyInstance } from 'fastify';
import type { ScenarioLibrary } from '../scenario/scenario-library.ts';
import type { WallClock } from '../worlds/wall-clock.ts';
import type { Worlds } from '../worlds/worlds.ts';

interface Parts {
  readonly worlds: Worlds;
  readonly scenarios: ScenarioLibrary;
  readonly wallClock: WallClock;
  /** The state file; null without one. */
  readonly kept: { readonly start: () => void; readonly end: () => Promise<void> } | null;
  readonly pressure: { readonly start: () => () => void };
}

/** Starts what runs beside the requests once the server listens, and ends it with the server. */
export function startAndEnd(
  app: FastifyInstance,
  { worlds, scenarios, wallClock, kept, pressure }: Parts,
): void {
  let endPressure = (): void => undefined;
  app.addHook('onListen', () => {
    scenarios.watch();
    kept?.start();
    endPressure = pressure.start();
    wallClock.nextTurn(() => void scenarios.active.rules); // compiles those of the magic beneficiaries before a request needs them
  });
  app.addHook('preClose', (done) => {
    worlds.release(); // held responses would keep connections open
    scenarios.close();
    done();
  });
  app.addHook('onClose', async () => {
    endPressure();
    try {
      await kept?.end();
    } finally {
      await worlds.close();
    }
  });
}
