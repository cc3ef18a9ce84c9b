import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { DroppedAnswer, HealthAnswer, LiveAnswer, WorldsAnswer } from '../../contract/control-answers.ts';
import { Refusal } from '../../contract/errors.ts';
import type { WorldLog, WorldRow } from '../../log/world-log.ts';
import { toInr } from '../../payout/money.ts';
import { iso } from '../../world/events.ts';
import { JSON_TYPE } from '../limits/json-body.ts';
import { sendInPieces } from '../limits/unread-answers.ts';
import { dropKeepingVerdict } from '../referee/evidence.ts';
import { allWorldsRefereeRoutes } from '../referee/referee-routes.ts';
import { operation } from '../route-schemas.ts';
import type { ControlRoutes } from './control-options.ts';
import { PAGE_POLICY } from './dashboard-routes.ts';

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const OpenapiAnswer: z.ZodType = z
  .record(z.string(), z.unknown())
  .describe('The OpenAPI 3.1 document of the service and of the control API');
const PageText: z.ZodType = z.string().describe('The page, which loads everything from this server');
const MetricsText: z.ZodType = z.string().describe("Counters and gauges in Prometheus' text format");

/** Whether an Accept-Encoding header allows gzip: by name, or else by `*`, and not with the weight 0. */
function acceptsGzip(header = ''): boolean {
  const codings = header.split(',').map((coding) => coding.toLowerCase().split(';'));
  const named = (name: string) => codings.find(([coding]) => coding?.trim() === name);
  const [, ...parameters] = named('gzip') ?? named('*') ?? ['', 'q=0'];
  return !parameters.some((parameter) => /^\s*q\s*=\s*0(\.0*)?\s*$/.test(parameter));
}

/** Routes that need no key, since their answers contain nothing about any world. */
export const serverRoutes: ControlRoutes = async (app, options) => {
  const { version, isStopping, isStoreAway, metricsText, openapi, docsFile } = options;

  app.get(
    '/health',
    operation('Server', 'getHealth', 'Whether the sandbox is ready', HealthAnswer, {
      description:
        'It listens once its scenarios are read and its state is restored; 503 while it stops, or cannot use its store.',
      access: 'everybody',
      response: { 200: HealthAnswer, 503: HealthAnswer },
    }),
    (_request, reply): z.infer<typeof HealthAnswer> => {
      const status = isStopping() ? 'stopping' : isStoreAway() ? 'store_unavailable' : 'ready';
      if (status !== 'ready') void reply.code(503);
      return { status, version };
    },
  );

  app.get(
    '/live',
    operation('Server', 'getLiveness', 'Whether the process is alive', LiveAnswer, {
      description: '200 even while its store is unavailable, which a restart would not cure.',
      access: 'everybody',
    }),
    (): z.infer<typeof LiveAnswer> => ({ status: 'alive', version }),
  );

  let document: Promise<Buffer> | undefined; // one copy for all readers
  app.get(
    '/openapi.json',
    operation('Server', 'getOpenapi', 'This document', OpenapiAnswer, { access: 'everybody' }),
    async (_request, reply) => {
      document ??= openapi().then((text) => Buffer.from(text));
      return reply.type(JSON_TYPE).send(await document);
    },
  );

  const send = async (name: string, accepted: string | undefined, reply: FastifyReply) => {
    const file = await docsFile(name);
    if (file === undefined) throw new Refusal('ROUTE_NOT_FOUND', { message: `The page has no file ${name}` });
    void reply.headers({ 'content-security-policy': PAGE_POLICY, vary: 'accept-encoding' }).type(file.type);
    return acceptsGzip(accepted)
      ? reply.header('content-encoding', 'gzip').send(file.gzip)
      : reply.send(file.plain);
  };

  app.get(
    '/docs',
    operation('Server', 'openDocs', 'A page that shows this document', PageText, {
      access: 'everybody',
      responseType: 'text/html',
    }),
    ({ headers }, reply) => send('index.html', headers['accept-encoding'], reply),
  );

  app.get(
    '/docs/:file',
    { schema: { undocumented: true, params: z.object({ file: z.string() }) } },
    ({ headers, params: { file } }, reply) =>
      // the addresses in the page are relative to /_sandbox/docs
      file === '' ? reply.redirect('../docs', 308) : send(file, headers['accept-encoding'], reply),
  );

  app.get(
    '/metrics',
    operation('Server', 'getMetrics', 'What Prometheus scrapes', MetricsText, {
      description: 'Off unless SANDBOX_METRICS=on. It has nothing about single worlds.',
      access: 'everybody',
      errors: ['ROUTE_NOT_FOUND'],
      responseType: 'text/plain',
    }),
    async (_request, reply) => {
      if (metricsText !== null) return reply.type(METRICS_TYPE).send(await metricsText());
      const message = 'Metrics are off: SANDBOX_METRICS=on or --metrics on turns them on';
      throw new Refusal('ROUTE_NOT_FOUND', { message });
    },
  );
};

const rowAnswer = ({ id, openedAtMs, usedAtMs, balancePaise, transactions, scenario }: WorldRow) => ({
  id,
  made_at: iso(openedAtMs),
  used_at: iso(usedAtMs),
  balance: toInr(balancePaise),
  transactions,
  scenario,
});

/** How many worlds are read before other requests have their turn. */
const ROWS_AT_ONCE = 100;
/** What a list that waits for its reader keeps in memory for each of its worlds. */
const BYTES_EACH = 100;

/** A long list of worlds as JSON, made as it is read. */
async function* worldsText(log: WorldLog, worldIds: readonly string[]): AsyncGenerator<string> {
  yield '{"worlds":[';
  let separator = '';
  for (let from = 0; from < worldIds.length; from += ROWS_AT_ONCE) {
    const rows = await log.rows(worldIds.slice(from, from + ROWS_AT_ONCE));
    if (rows.length === 0) continue;
    yield separator + JSON.stringify(rows.map(rowAnswer)).slice(1, -1);
    separator = ',';
  }
  yield ']}';
}

/** Routes that concern more than one world, for the admin token only. */
export const adminRoutes: ControlRoutes = async (app, options) => {
  const { log, referee, requireAdmin } = options;
  app.addHook('onRequest', (request, _reply, done) => {
    requireAdmin(request.headers.authorization);
    done();
  });

  app.get(
    '/worlds',
    operation('Server', 'listWorlds', 'All worlds', WorldsAnswer, { access: 'admin' }),
    async (_request, reply) => {
      const worldIds = await log.ids();
      if (worldIds.length <= ROWS_AT_ONCE) return { worlds: (await log.rows(worldIds)).map(rowAnswer) };
      const bytes = worldIds.length * BYTES_EACH;
      return sendInPieces(reply.type(JSON_TYPE), worldsText(log, worldIds), bytes, options) as never;
    },
  );

  await allWorldsRefereeRoutes(app, options);

  app.delete(
    '/worlds/:id',
    operation('Server', 'dropWorld', 'Drop a world', DroppedAnswer, {
      access: 'admin',
      errors: ['WORLD_NOT_FOUND'],
      params: z.object({ id: z.string().meta({ description: 'The id that a list of worlds shows' }) }),
    }),
    async ({ params: { id } }) => {
      const wasThere = await dropKeepingVerdict(id, log, options, async () => log.drop(id));
      if (!wasThere) throw new Refusal('WORLD_NOT_FOUND', { message: `There is no world ${id}` });
      await referee.forget(id);
      return { dropped: id };
    },
  );
};
