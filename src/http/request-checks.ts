import type { IncomingHttpHeaders, Server } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../contract/errors.ts';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

const isLoopback = (address: string): boolean =>
  isIP(address) !== 0 && LOOPBACK.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** The host name of `example.com:3000`, `[::1]:3000` or `https://example.com`, in lower case; null where there is none. */
function hostNameOf(text: string): string | null {
  const url = text.includes('://') ? text : `http://${text}`;
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/^\[|\]$|\.$/g, '') : null;
}

/** Whether a host name or an address is one that only this machine can reach. */
export const isLoopbackName = (name: string): boolean =>
  name === 'localhost' || name.endsWith('.localhost') || isLoopback(name);

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The headers of every response of the control API: no cache stores it, and no page elsewhere can use it as a script. */
export const PRIVATE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

function refusal(code: 'HOST_NOT_ALLOWED' | 'ORIGIN_NOT_ALLOWED', problem: string): Refusal {
  const limit = 'SANDBOX_ALLOWED_HOSTS';
  const message = `${problem}; ${limit} or --allowed-hosts allows more`;
  return new Refusal(code, { message, headers: PRIVATE_HEADERS, limit });
}

/**
 * Keeps web pages of other sites out:
 * - on a loopback address, only loopback host names and the allowed ones are served. A page whose name was made to resolve
 *   to 127.0.0.1 (DNS rebinding) has the same origin as the sandbox in a browser, but sends its own name as Host. On another
 *   address, that is so once names are allowed; an address as Host is no name that could be made to resolve to it;
 * - a request that changes something is refused when the browser says that a page of another origin sent it. The rule is
 *   that of Go's net/http.CrossOriginProtection: Sec-Fetch-Site decides, where there is none Origin is compared to Host, and
 *   a request with neither does not come from a browser.
 *
 * 403 and not 421, since clients may repeat a request on their own after a 421.
 *
 * @returns a function that throws the Refusal: HOST_NOT_ALLOWED, ORIGIN_NOT_ALLOWED, or MALFORMED_REQUEST without a Host
 */
export function otherSites(
  server: Server,
  allowedHosts: readonly string[] | undefined,
): (request: FastifyRequest) => void {
  const allowed = new Set(allowedHosts);
  const isLimited = allowedHosts !== undefined;
  let isLocal = false;
  /** The Host of the latest request that was served: most requests have the same, and parsing it takes a while. */
  let served: string | null = null;
  server.on('listening', () => {
    const address = server.address();
    isLocal = typeof address === 'object' && address !== null && isLoopback(address.address);
  });

  const refuseHost = (host: string): void => {
    if (host === served) return;
    const name = hostNameOf(host) ?? '';
    const isAddress = !isLocal && isIP(name) !== 0;
    if (!isLoopbackName(name) && !allowed.has(name) && !isAddress) {
      const others = isLocal ? '127.0.0.0/8 and [::1]' : 'addresses and the names that are allowed';
      const where = isLocal ? ' listens on a loopback address and' : '';
      throw refusal(
        'HOST_NOT_ALLOWED',
        `This sandbox${where} serves localhost, *.localhost, ${others}, not ${host.slice(0, 100)}`,
      );
    }
    served = host;
  };
  const refuseOrigin = ({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): void => {
    const isOwn =
      site === undefined
        ? origin === undefined || origin.replace(/^https?:\/\//, '') === host
        : site === 'same-origin' || site === 'none';
    if (isOwn || allowed.has(hostNameOf(origin ?? '') ?? '')) return;
    throw refusal(
      'ORIGIN_NOT_ALLOWED',
      `A web page of another origin cannot change anything here: Origin ${origin?.slice(0, 100) ?? 'none'}, Sec-Fetch-Site ${site ?? 'none'}`,
    );
  };
  return ({ headers, method, raw }) => {
    if (headers.host === undefined && raw.httpVersion === '1.1') {
      throw new Refusal('MALFORMED_REQUEST', { message: 'The Host header is missing' });
    }
    if ((isLocal || isLimited) && headers.host !== undefined) refuseHost(headers.host);
    if (!SAFE_METHODS.has(method)) refuseOrigin(headers);
  };
}

/** Node keeps the first of these and drops the others, but a proxy may have checked another one. */
const MUST_BE_ALONE: ReadonlySet<string> = new Set(['host', 'authorization', 'content-type']);

/** @param rawHeaders names and values in turn, as they came. @throws Refusal MALFORMED_REQUEST */
export function refuseRepeatedHeaders(rawHeaders: readonly string[]): void {
  let seen = '';
  for (let nth = 0; nth < rawHeaders.length; nth += 2) {
    const name = rawHeaders[nth]!.toLowerCase();
    if (!MUST_BE_ALONE.has(name)) continue;
    if (seen.includes(name)) {
      throw new Refusal('MALFORMED_REQUEST', { message: `The header ${name} must be sent once` });
    }
    seen += `${name} `;
  }
}

export const CONTROL_PREFIX = '/_sandbox';

export const isControlPath = (path: string): boolean =>
  path === CONTROL_PREFIX || path.startsWith(`${CONTROL_PREFIX}/`) || path.startsWith(`${CONTROL_PREFIX}?`);

const neverCalled = (): never => {
  throw new Error('a schema met none of the compilers of the sandbox');
};
/** For `schemaController.compilersFactory`: without it, Fastify would load ajv and its own serializers at each start. */
export const ownCompilersOnly = { buildValidator: neverCalled, buildSerializer: neverCalled };
