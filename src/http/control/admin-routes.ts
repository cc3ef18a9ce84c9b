import { z } from 'zod';
import { DroppedAnswer, WorldsAnswer } from '../../contract/control-answers.ts';
import { Refusal } from '../../contract/errors.ts';
import { readUnlessDropped, type WorldRow } from '../../log/world-log.ts';
import { toInr } from '../../payout/money.ts';
import { iso } from '../../world/events.ts';
import { operation } from '../operation.ts';
import type { ControlRoutes } from './control-options.ts';

/** A world in a list of them; null for one that was dropped meanwhile. */
const rowOf = ({ world, openedAtMs, usedAtMs }: WorldRow) =>
  readUnlessDropped(world, ({ id, wallet, payouts, index }) => ({
    id,
    made_at: iso(openedAtMs),
    used_at: iso(usedAtMs),
    balance: toInr(wallet.balancePaise),
    transactions: payouts.length,
    scenario: index.base.name,
  }));

/** What concerns no world alone: with the admin token only. */
export const adminRoutes: ControlRoutes = async (app, { log, requireAdmin }) => {
  app.addHook('onRequest', (request, _reply, done) => {
    requireAdmin(request.headers.authorization);
    done();
  });

  app.get(
    '/worlds',
    operation('Server', 'listWorlds', 'All worlds', {
      access: 'admin',
      response: { 200: WorldsAnswer },
    }),
    async () => {
      const worlds = await log.list();
      const rows = await Promise.all(worlds.map(rowOf));
      return { worlds: rows.filter((row) => row !== null) };
    },
  );

  app.delete(
    '/worlds/:id',
    operation('Server', 'dropWorld', 'End a world', {
      access: 'admin',
      errors: ['WORLD_NOT_FOUND'],
      params: z.object({ id: z.string().meta({ description: 'The id that a list of worlds shows' }) }),
      response: { 200: DroppedAnswer },
    }),
    async ({ params: { id } }) => {
      if (!(await log.drop(id))) throw new Refusal('WORLD_NOT_FOUND', { message: `There is no world ${id}` });
      return { dropped: id };
    },
  );
};
