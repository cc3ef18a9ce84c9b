// What everything is measured against: the least that a server of the same API does with node:http. It reads the
// JSON, makes an id, and answers as many bytes as the sandbox. It has no wallet, no key, no check and no log.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const CREATED_AT = '2026-01-15T04:30:00.000Z';
let requests = 0;

const newId = () => `TXN${randomUUID().replaceAll('-', '').slice(0, 24).toUpperCase()}`;

const ANSWERS = {
  '/payout/initiate': ({ client_ref_id, amount }) => ({
    status: 'success',
    message: 'Payout initiated successfully',
    data: { txn_id: newId(), client_ref_id, status: 'PENDING', amount, utr: null, created_at: CREATED_AT },
  }),
  '/client/fetchbalance': () => ({
    status: 'success',
    data: { balance: 1000000, currency: 'INR', last_updated: CREATED_AT },
  }),
  '/payout/status': ({ client_ref_id }) => ({
    status: 'success',
    data: {
      txn_id: newId(),
      client_ref_id,
      status: 'SUCCESS',
      amount: 1500.5,
      utr: '601508123456',
      beneficiary_name: 'Asha Rao',
      beneficiary_account: '000123456789',
      created_at: CREATED_AT,
      completed_at: CREATED_AT,
    },
  }),
};

function answer(response, path, asked) {
  requests += 1;
  response.setHeader('x-sandbox-request-id', `req-${requests}`);
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(JSON.stringify(ANSWERS[path](asked)));
}

const server = createServer((request, response) => {
  const [path, query] = request.url.split('?');
  if (request.method === 'GET') {
    return answer(response, path, { client_ref_id: new URLSearchParams(query).get('client_ref_id') });
  }
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => answer(response, path, JSON.parse(body)));
});
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () =>
  process.stdout.write(`{"url":"http://127.0.0.1:${server.address().port}"}\n`),
);
