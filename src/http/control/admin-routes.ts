import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { DroppedAnswer, WorldsAnswer } from '../../contract/control-answers.ts';
import { Refusal } from '../../contract/errors.ts';
import { toInr } from '../../payout/money.ts';
import type { World } from '../../log/world.ts';
import type { Worlds } from '../../log/worlds.ts';
import type { SummaryOutcome } from '../../ledger/ledger.ts';
import { iso } from './world-answers.ts';

interface Options {
  readonly worlds: Worlds;
  /** Refuses whoever does not have the admin token. @throws Refusal UNAUTHORIZED */
  readonly requireAdmin: (authorization: string | undefined) => void;
}

/** How a world stands; null for one that was dropped while we waited for it. */
async function summaryOf({ book }: World): Promise<SummaryOutcome | null> {
  try {
    return await book.perform((ledger, ref, nowMs) => ledger.summary(ref, nowMs));
  } catch (error) {
    if (book.isClosed) return null;
    throw error;
  }
}

/** What concerns no world alone: with the admin token only. */
export const adminRoutes: FastifyPluginAsyncZod<Options> = async (app, { worlds, requireAdmin }) => {
  app.addHook('onRequest', (request, _reply, done) => {
    requireAdmin(request.headers.authorization);
    done();
  });

  app.get(
    '/worlds',
    {
      schema: {
        operationId: 'listWorlds',
        summary: 'All worlds',
        tag: 'Server',
        access: 'admin',
        response: { 200: WorldsAnswer },
      },
    },
    async () => {
      const rows = worlds.list().map(async ({ world, madeAtMs, usedAtMs }) => {
        const summary = await summaryOf(world);
        if (summary === null) return null;
        const { wallet, tallies } = summary;
        const counts = Object.values(tallies).map(({ count }) => count);
        return {
          id: world.id,
          made_at: iso(madeAtMs),
          used_at: iso(usedAtMs),
          balance: toInr(wallet.balancePaise),
          transactions: counts.reduce((sum, count) => sum + count, 0),
          scenario: world.scenario.name,
        };
      });
      return { worlds: (await Promise.all(rows)).filter((row) => row !== null) };
    },
  );

  app.delete(
    '/worlds/:id',
    {
      schema: {
        operationId: 'dropWorld',
        summary: 'End a world',
        tag: 'Server',
        access: 'admin',
        errors: ['WORLD_NOT_FOUND'],
        params: z.object({ id: z.string().meta({ description: 'The id that a list of worlds shows' }) }),
        response: { 200: DroppedAnswer },
      },
    },
    ({ params: { id } }) => {
      if (!worlds.drop(id)) throw new Refusal('WORLD_NOT_FOUND', { message: `There is no world ${id}` });
      return { dropped: id };
    },
  );
};
