import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { WallClock } from '../../worlds/wall-clock.ts';
import type { Worlds } from '../../worlds/worlds.ts';
import type { Referee } from '../../referee/referee.ts';
import type { ScenarioLibrary } from '../../scenario/scenario-library.ts';
import type { Command } from '../../world/commands.ts';
import type { Change } from '../../payout/payout.ts';
import type { HttpExchange } from '../http-exchange.ts';
import type { TokenReader } from '../admission.ts';
import type { HeavyWork } from '../limits/heavy-work.ts';
import type { Pressure } from '../limits/pressure.ts';

export interface ControlOptions {
  readonly wallClock: WallClock;
  readonly heavy: HeavyWork;
  readonly pressure: Pressure;
  readonly worlds: Worlds;
  readonly scenarios: ScenarioLibrary;
  readonly referee: Referee;
  readonly keyOf: TokenReader;
  readonly requireAdmin: TokenReader;
  readonly version: string;
  /** The connection to the store of the worlds; undefined without one. */
  readonly store: { readonly isAway: boolean; readonly wasReached: boolean } | undefined;
  /** All metrics in Prometheus' text format; null when metrics are off. */
  readonly metricsText: (() => Promise<string>) | null;
  /** The OpenAPI document of all routes, as JSON text. */
  readonly openapi: () => Promise<string>;
  /** All files of the dashboard by their paths; none if it was not built. */
  readonly pageFiles: () => ReadonlyMap<
    string,
    { readonly type: string; readonly body: Buffer; readonly etag: string }
  >;
}

/** Carries out a control action of a request. The response says how an undo can name it. @param onChanges called with its steps, part by part */
export const act = <C extends Command>(
  { world, reply }: HttpExchange,
  command: C,
  onChanges?: (changes: readonly Change[]) => void,
) =>
  world.submit(command, (part) => {
    if (part.kind !== 'refused' && part.action !== undefined)
      void reply.header('x-sandbox-action', part.action);
    onChanges?.(part.events.flatMap((event) => (event.type === 'settlement' ? [event.change] : [])));
  });

export type ControlRoutes = FastifyPluginAsyncZod<ControlOptions>;
