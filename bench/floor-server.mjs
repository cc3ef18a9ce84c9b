// What the sandbox cannot be faster than: Fastify with the plugins that it uses, one log line for each response, and handlers that do
// nothing. It checks the body and counts requests of a key, and has no world.
import rateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { pino } from 'pino';
import { z } from 'zod';

const text = z.string().min(1);
const Initiate = z.object({
  client_ref_id: text,
  beneficiary_name: text,
  beneficiary_account: text,
  beneficiary_ifsc: text,
  amount: z.number().positive(),
  transfer_mode: z.enum(['IMPS', 'NEFT', 'RTGS', 'UPI']),
});
const ANSWER = JSON.stringify({
  status: 'success',
  message: 'Payout initiated successfully',
  data: {
    txn_id: 'TXN4058D39EDC25B48EB188F1B1',
    client_ref_id: 'order-1',
    status: 'PENDING',
    amount: 1500.5,
    utr: null,
    created_at: '2026-01-15T04:30:00.000Z',
  },
});

const log = pino(
  { base: null },
  pino.destination({ dest: 1, sync: false, minLength: 60 * 1024, maxWrite: 64 * 1024 }),
);
const app = fastify({ logger: false });
app.setValidatorCompiler(validatorCompiler);
app.setSerializerCompiler(serializerCompiler);
app.register(rateLimit, {
  max: 1e9,
  timeWindow: 1000,
  keyGenerator: ({ headers }) => headers.authorization,
});
app.addHook('onResponse', (request, reply, done) => {
  log.info({ request_id: request.id, route: request.routeOptions.url, status: reply.statusCode }, 'request');
  done();
});
const answer = (_request, reply) => reply.type('application/json; charset=utf-8').send(ANSWER);
app.post('/payout/initiate', { schema: { body: Initiate } }, answer);
app.get('/client/fetchbalance', answer);
app.get('/payout/status', answer);
app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 0) }, (error, url) => {
  process.stdout.write(`${JSON.stringify({ error, url })}\n`);
});
