import type { RouteOptions } from 'fastify';
import type { RefusalCode } from '../../contract/errors.ts';

const header = (description: string, example: string, shape: object = {}) => ({
  description,
  schema: { type: 'string', ...shape },
  example,
});

/** Response headers, for the components of the document. */
export const HEADERS = {
  'X-Sandbox-Request-Id': header('The id of this request in the log and in the journal', 'req-1'),
  'X-Sandbox-Rule': header('The rule that decided this response: scenario/rule', 'magic/status-402'),
  'X-Sandbox-Limit': header('The setting whose limit refused this request', 'SANDBOX_RATE_LIMIT'),
  'X-Sandbox-World-Dropped': header(
    'When and why the payouts of this key were dropped, until its world is reset',
    'at 2026-01-15T10:30:00.000Z with its 3 payouts: SANDBOX_MAX_WORLDS',
  ),
  'X-Sandbox-Warning': header(
    'Why a bank might refuse this payout, which was accepted',
    'amount is below INR 2,00,000, the minimum of RTGS',
  ),
  'Idempotent-Replayed': header(
    'An earlier request with this client_ref_id made this payout; this request debited nothing',
    'true',
    { enum: ['true'] },
  ),
  'Last-Event-ID': header(
    'Where a new reader begins: it sends this to continue if the connection breaks before the first event',
    '1k2f9a.17',
  ),
  'Retry-After': header('Seconds of wall time until the next request is allowed', '1', {
    pattern: '^\\d+$',
  }),
  'WWW-Authenticate': header('The required authentication scheme', 'Bearer'),
};
type HeaderName = keyof typeof HEADERS;

const OF_REFUSALS: { readonly [Code in RefusalCode]?: readonly HeaderName[] } = {
  HOST_NOT_ALLOWED: ['X-Sandbox-Limit'],
  ORIGIN_NOT_ALLOWED: ['X-Sandbox-Limit'],
  RATE_LIMITED: ['Retry-After', 'X-Sandbox-Limit'],
  SANDBOX_FULL: ['X-Sandbox-Limit'],
  STORE_UNAVAILABLE: ['Retry-After'],
  UNAUTHORIZED: ['WWW-Authenticate'],
};

const references = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const ALWAYS: readonly HeaderName[] = ['X-Sandbox-Request-Id', 'X-Sandbox-World-Dropped'];

const always = ({ config }: RouteOptions): readonly HeaderName[] =>
  config?.name === undefined ? ALWAYS : [...ALWAYS, 'X-Sandbox-Rule'];

export const headersOfResponse = (route: RouteOptions): object =>
  references([...always(route), ...(route.schema?.responseHeaders ?? [])]);

export function headersOfRefusals(route: RouteOptions, codes: readonly RefusalCode[]): object {
  const warnings = route.schema?.responseHeaders?.filter((name) => name === 'X-Sandbox-Warning') ?? [];
  const own = codes.flatMap((code) => OF_REFUSALS[code] ?? []);
  return references([...new Set([...always(route), ...warnings, ...own])]);
}
