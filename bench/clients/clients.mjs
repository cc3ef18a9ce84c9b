// Popular HTTP clients and retry libraries of npm, each making one payout. Run as a program: `node clients.mjs NAME`, with
// PAYOUT_URL and PAYOUT_KEY. Exit code: 0 for a payout that it was told of, 1 for any error.
import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import asyncRetry from 'async-retry';
import axios from 'axios';
import axiosRetry from 'axios-retry';
import * as cockatiel from 'cockatiel';
import { backOff } from 'exponential-backoff';
import fetchRetry from 'fetch-retry';
import got from 'got';
import ky from 'ky';
import needle from 'needle';
import nodeFetch from 'node-fetch';
import { ofetch } from 'ofetch';
import CircuitBreaker from 'opossum';
import pRetry from 'p-retry';
import superagent from 'superagent';
import { Agent, request, RetryAgent } from 'undici';
import wretch from 'wretch';
import { retry as wretchRetry } from 'wretch/middlewares';

const TIMEOUT_MS = 800;
/** Retries wait this long where their library lets one choose, so that a measurement does not take minutes. */
const PAUSE_MS = 100;

const newReference = () => `order-${randomUUID()}`;
const bodyWith = (client_ref_id) => ({
  client_ref_id,
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  amount: 250,
  transfer_mode: 'IMPS',
});

/** The outcome of a response: throws unless it is a 2xx with the payout in it. */
async function checked(response) {
  if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
  return (await response.json()).data;
}

/** Each: the library, what is configured, and one payout with it. `send` gives a plain request for libraries that only retry. */
export const CLIENTS = {
  fetch: { of: 'fetch of Node.js', with: 'default', pay: (to) => to.send() },
  'node-fetch': {
    of: 'node-fetch',
    with: 'default',
    pay: async ({ url, init }) =>
      checked(await nodeFetch(url, { ...init(), signal: AbortSignal.timeout(TIMEOUT_MS) })),
  },
  axios: {
    of: 'axios',
    with: 'default',
    pay: ({ url, json, headers }) => axios.post(url, json(), { headers, timeout: TIMEOUT_MS }),
  },
  needle: {
    of: 'needle',
    with: 'default',
    pay: async ({ url, json, headers }) => {
      const { statusCode, body } = await needle('post', url, json(), {
        headers,
        json: true,
        response_timeout: TIMEOUT_MS,
        read_timeout: TIMEOUT_MS,
      });
      if (statusCode !== 200 || !body.data) throw new Error(`HTTP ${statusCode}`);
    },
  },
  'axios-retry': { of: 'axios-retry', with: 'default', pay: (to) => withAxiosRetry(to, {}) },
  'axios-retry-new-reference': {
    of: 'axios-retry',
    with: 'reference made in an interceptor',
    pay: (to) =>
      withAxiosRetry(to, {}, (config) => ({ ...config, data: JSON.stringify(bodyWith(newReference())) })),
  },
  'axios-retry-post': {
    of: 'axios-retry',
    with: 'retryCondition for POST',
    pay: (to) =>
      withAxiosRetry(to, {
        retryCondition: (error) => !error.response || error.response.status >= 429,
        retryDelay: axiosRetry.exponentialDelay, // it waits for Retry-After
      }),
  },
  got: { of: 'got', with: 'default', pay: (to) => withGot(to, {}) },
  'got-post': {
    of: 'got',
    with: "retry: { methods: ['POST'], maxRetryAfter: 5000 }",
    pay: (to) => withGot(to, { methods: ['POST'], limit: 2, maxRetryAfter: 5000 }),
  },
  ky: { of: 'ky', with: 'default', pay: (to) => withKy(to, undefined) },
  'ky-post': {
    of: 'ky',
    with: "retry: { methods: ['post'] }",
    pay: (to) => withKy(to, { methods: ['post'], limit: 2 }),
  },
  'undici-retry': { of: 'undici RetryAgent', with: 'default', pay: (to) => withUndici(to, {}) },
  'undici-retry-post': {
    of: 'undici RetryAgent',
    with: "methods: ['POST']",
    pay: (to) => withUndici(to, { methods: ['POST'], maxRetries: 2, minTimeout: PAUSE_MS }),
  },
  'fetch-retry': {
    of: 'fetch-retry',
    with: 'default, with a timeout',
    pay: async ({ url, init }) =>
      checked(
        await fetchRetry(fetch)(url, {
          ...init(),
          retries: 2,
          retryDelay: PAUSE_MS,
          signal: AbortSignal.timeout(TIMEOUT_MS),
        }),
      ),
  },
  'fetch-retry-5xx': {
    of: 'fetch-retry',
    with: 'retryOn: [429, 500, 502, 503]',
    pay: async ({ url, init }) =>
      checked(
        await fetchRetry(fetch)(url, {
          ...init(),
          retries: 2,
          retryDelay: PAUSE_MS,
          retryOn: [429, 500, 502, 503],
          signal: AbortSignal.timeout(3 * TIMEOUT_MS),
        }),
      ),
  },
  ofetch: {
    of: 'ofetch',
    with: 'default',
    pay: ({ url, init }) => ofetch(url, { ...init(), timeout: TIMEOUT_MS }),
  },
  'ofetch-retry': {
    of: 'ofetch',
    with: 'retry: 3',
    pay: ({ url, init }) => ofetch(url, { ...init(), retry: 3, retryDelay: PAUSE_MS, timeout: TIMEOUT_MS }),
  },
  'wretch-retry': {
    of: 'wretch',
    with: 'retry middleware, default',
    pay: (to) => withWretch(to, { maxAttempts: 2, delayTimer: PAUSE_MS }),
  },
  'wretch-retry-network': {
    of: 'wretch',
    with: 'retryOnNetworkError: true',
    pay: (to) => withWretch(to, { maxAttempts: 2, delayTimer: PAUSE_MS, retryOnNetworkError: true }),
  },
  superagent: { of: 'superagent', with: 'default', pay: (to) => withSuperagent(to, 0) },
  'superagent-retry': { of: 'superagent', with: 'retry(2)', pay: (to) => withSuperagent(to, 2) },
  'p-retry': {
    of: 'p-retry',
    with: 'reference made outside',
    pay: (to) => pRetry(() => to.send(), { retries: 2, minTimeout: PAUSE_MS }),
  },
  'p-retry-new-reference': {
    of: 'p-retry',
    with: 'reference made inside',
    pay: (to) => pRetry(() => to.send(newReference()), { retries: 2, minTimeout: PAUSE_MS }),
  },
  'async-retry': {
    of: 'async-retry',
    with: 'reference made outside',
    pay: (to) => asyncRetry(() => to.send(), { retries: 2, minTimeout: PAUSE_MS }),
  },
  'async-retry-new-reference': {
    of: 'async-retry',
    with: 'reference made inside',
    pay: (to) => asyncRetry(() => to.send(newReference()), { retries: 2, minTimeout: PAUSE_MS }),
  },
  cockatiel: {
    of: 'cockatiel',
    with: 'retry, reference made outside',
    pay: (to) =>
      cockatiel
        .retry(cockatiel.handleAll, {
          maxAttempts: 2,
          backoff: new cockatiel.ExponentialBackoff({ initialDelay: PAUSE_MS }),
        })
        .execute(() => to.send()),
  },
  'exponential-backoff': {
    of: 'exponential-backoff',
    with: 'reference made outside',
    pay: (to) => backOff(() => to.send(), { numOfAttempts: 3, startingDelay: PAUSE_MS }),
  },
  opossum: {
    of: 'opossum',
    with: 'a fallback that says FAILED',
    async pay(to) {
      const breaker = new CircuitBreaker(() => to.send(), { timeout: TIMEOUT_MS });
      breaker.fallback(() => 'FAILED');
      if ((await breaker.fire()) === 'FAILED') throw new Error('FAILED');
    },
  },
};

function withAxiosRetry({ url, json, headers }, options, intercept) {
  const client = axios.create({ headers, timeout: TIMEOUT_MS });
  axiosRetry(client, options);
  if (intercept) client.interceptors.request.use(intercept);
  return client.post(url, json());
}

const withGot = ({ url, json, headers }, retry) =>
  got
    .post(url, {
      json: json(),
      headers: { authorization: headers.authorization },
      timeout: { request: TIMEOUT_MS },
      retry,
    })
    .json();

const withKy = ({ url, json, headers }, retry) =>
  ky
    .post(url, {
      json: json(),
      headers: { authorization: headers.authorization },
      timeout: 5 * TIMEOUT_MS,
      retry,
    })
    .json();

async function withUndici({ url, init }, options) {
  const dispatcher = new RetryAgent(
    new Agent({ headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS }),
    options,
  );
  const { statusCode, body } = await request(url, { ...init(), dispatcher });
  await checked({ ok: statusCode === 200, status: statusCode, json: () => body.json() });
}

const withWretch = async ({ url, json, headers }, options) =>
  wretch(url)
    .headers({ authorization: headers.authorization })
    .middlewares([wretchRetry(options)])
    .options({ signal: AbortSignal.timeout(3 * TIMEOUT_MS) })
    .json(json())
    .post()
    .json();

async function withSuperagent({ url, json, headers }, retries) {
  const { body } = await superagent.post(url).set(headers).send(json()).timeout(TIMEOUT_MS).retry(retries);
  if (!body.data) throw new Error('no payout');
}

/** What a client needs for one payout. */
function target(base, key) {
  const url = `${base}/payout/initiate`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const own = newReference();
  const json = (reference = own) => bodyWith(reference);
  const init = (reference) => ({ method: 'POST', headers, body: JSON.stringify(json(reference)) });
  const send = async (reference) =>
    checked(await fetch(url, { ...init(reference), signal: AbortSignal.timeout(TIMEOUT_MS) }));
  return { url, headers, json, init, send };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { PAYOUT_URL, PAYOUT_KEY } = process.env;
  await CLIENTS[process.argv[2]].pay(target(PAYOUT_URL, PAYOUT_KEY)).then(
    () => process.exit(0),
    (error) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
}
