import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { Refusal } from '../../contract/errors.ts';

export interface Metered {
  /** What was counted, in Prometheus' text format; null when nothing is. */
  readonly metricsText: (() => Promise<string>) | null;
}

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';

/** What Prometheus scrapes: without a key, since nothing of any world is in it. */
export const metricsRoutes: FastifyPluginAsyncZod<Metered> = async (app, { metricsText }) => {
  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        summary: 'What Prometheus scrapes',
        description: 'Off unless SANDBOX_METRICS=on asks for it. Nothing of any world is in it.',
        tag: 'Server',
        access: 'everybody',
        errors: ['ROUTE_NOT_FOUND'],
        answers: { type: 'text/plain', description: "Counters and gauges in Prometheus' text format" },
      },
    },
    async (_request, reply) => {
      if (metricsText === null) {
        throw new Refusal('ROUTE_NOT_FOUND', {
          message: 'Metrics are off: SANDBOX_METRICS=on or --metrics on turns them on',
        });
      }
      return reply.type(TEXT_FORMAT).send(await metricsText());
    },
  );
};
