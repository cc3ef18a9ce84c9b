import type { RouteOptions } from 'fastify';
import type { RefusalCode } from '../../contract/errors.ts';
import type { ResponseHeader } from '../route-schemas.ts';

/** Response headers, for the components of the document. */
export const HEADERS = {
  'X-Sandbox-Request-Id': {
    description: 'The id of this request in the log and in the journal',
    schema: { type: 'string' },
    example: 'req-1',
  },
  'X-Sandbox-Rule': {
    description: 'The rule that decided this response: scenario/rule',
    schema: { type: 'string' },
    example: 'magic/status-402',
  },
  'X-Sandbox-Limit': {
    description: 'The setting whose limit refused this request',
    schema: { type: 'string' },
    example: 'SANDBOX_RATE_LIMIT',
  },
  'X-Sandbox-Warning': {
    description: 'Why a bank might refuse this payout, which was accepted',
    schema: { type: 'string' },
    example: 'amount is below INR 2,00,000, where RTGS starts',
  },
  'Idempotent-Replayed': {
    description: 'An earlier request with this client_ref_id made this payout; this request debited nothing',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  'Retry-After': {
    description: 'Seconds of wall time until the next request is allowed',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1',
  },
  'WWW-Authenticate': {
    description: 'The required authentication scheme',
    schema: { type: 'string' },
    example: 'Bearer',
  },
} as const;
type HeaderName = keyof typeof HEADERS;

/** The headers of specific errors. */
const OF_REFUSALS: { readonly [Code in RefusalCode]?: readonly HeaderName[] } = {
  HOST_NOT_ALLOWED: ['X-Sandbox-Limit'],
  ORIGIN_NOT_ALLOWED: ['X-Sandbox-Limit'],
  RATE_LIMITED: ['Retry-After', 'X-Sandbox-Limit'],
  SANDBOX_FULL: ['X-Sandbox-Limit'],
  UNAUTHORIZED: ['WWW-Authenticate'],
};

const references = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const always = ({ config }: RouteOptions): readonly HeaderName[] =>
  config?.name === undefined ? ['X-Sandbox-Request-Id'] : ['X-Sandbox-Request-Id', 'X-Sandbox-Rule'];

/** The headers of a successful response. */
export const headersOfAnswer = (route: RouteOptions): object =>
  references([...always(route), ...(route.schema?.responseHeaders ?? [])]);

/** The headers of a response with one of these errors. */
export function headersOfRefusals(route: RouteOptions, codes: readonly RefusalCode[]): object {
  const warnings = (route.schema?.responseHeaders ?? []).filter(
    (name: ResponseHeader) => name === 'X-Sandbox-Warning',
  );
  const own = codes.flatMap((code) => OF_REFUSALS[code] ?? []);
  return references([...new Set([...always(route), ...warnings, ...own])]);
}
