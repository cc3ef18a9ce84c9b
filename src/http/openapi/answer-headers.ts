import type { RouteOptions } from 'fastify';
import type { RefusalCode } from '../../contract/errors.ts';
import type { ResponseHeader } from '../operation.ts';

/** The headers of answers, as the document has them under its components. */
export const HEADERS = {
  'X-Sandbox-Request-Id': {
    description: 'The id of this request in the log and in the journal',
    schema: { type: 'string' },
    example: 'req-1',
  },
  'X-Sandbox-Rule': {
    description: 'The rule that made this answer: scenario/rule',
    schema: { type: 'string' },
    example: 'magic/status-402',
  },
  'X-Sandbox-Limit': {
    description: 'The setting whose limit made this answer',
    schema: { type: 'string' },
    example: 'SANDBOX_RATE_LIMIT',
  },
  'X-Sandbox-Warning': {
    description: 'What a bank would doubt about this payout, which was taken all the same',
    schema: { type: 'string' },
    example: 'amount is below INR 2,00,000, where RTGS starts',
  },
  'Idempotent-Replayed': {
    description: 'An earlier request with this client_ref_id made this payout; nothing was debited now',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  'Retry-After': {
    description: 'Seconds of the wall clock until there is room again',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1',
  },
  'WWW-Authenticate': {
    description: 'The scheme that is asked for',
    schema: { type: 'string' },
    example: 'Bearer',
  },
} as const;
type HeaderName = keyof typeof HEADERS;

/** The refusals that bring a header of their own. */
const OF_REFUSALS: { readonly [Code in RefusalCode]?: readonly HeaderName[] } = {
  RATE_LIMITED: ['Retry-After', 'X-Sandbox-Limit'],
  SANDBOX_FULL: ['X-Sandbox-Limit'],
  UNAUTHORIZED: ['WWW-Authenticate'],
};

const references = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const always = ({ config }: RouteOptions): readonly HeaderName[] =>
  config?.name === undefined ? ['X-Sandbox-Request-Id'] : ['X-Sandbox-Request-Id', 'X-Sandbox-Rule'];

/** The headers of a normal answer. */
export const headersOfAnswer = (route: RouteOptions): object =>
  references([...always(route), ...(route.schema?.responseHeaders ?? [])]);

/** The headers of the answers that these refusals are given with. */
export function headersOfRefusals(route: RouteOptions, codes: readonly RefusalCode[]): object {
  const warnings = (route.schema?.responseHeaders ?? []).filter(
    (name: ResponseHeader) => name === 'X-Sandbox-Warning',
  );
  const own = codes.flatMap((code) => OF_REFUSALS[code] ?? []);
  return references([...new Set([...always(route), ...warnings, ...own])]);
}
