import { METHODS as KNOWN_METHODS } from 'node:http';
import fc from 'fast-check';
import { PAYOUT } from '../../../support/sandbox.ts';

/** Bytes that are HTTP, or similar to it. */
export interface HostileBytes {
  /** The pieces in which they are written. */
  readonly pieces: readonly Buffer[];
  /** Whether a request is HEAD, whose answer has no body. */
  readonly hasHead: boolean;
}

const METHODS = [...KNOWN_METHODS, 'PRI', 'get', 'G\u00e9T', 'G ET', '', 'X'.repeat(3000), '\u0000', 'GETT'];
const TARGETS = [
  '*', '/', '//', 'http://sandbox/payout/status', 'sandbox:80', '', '/payout/status?x=%', '/payout/%ff', '/payout/\u00ff', '/%00', '/..;/',
  '/_sandbox/../payout/initiate', '/_sandbox', '/payout/initiate#x', `/${'x'.repeat(17_000)}`, `/payout/status?${'a=1&'.repeat(3000)}`,
  '/payout/status ?x', '\t',
]; // prettier-ignore
const VERSIONS = [
  'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/9.9', 'HTTP/1.10', 'http/1.1', 'HTTP/1.1 x', 'HTTP/', '',
  'ICE/1.0',
]; // prettier-ignore
const ENDS = ['\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n', ''];
const LINES = [
  'Host: localhost', 'Host: other', 'Origin: https://elsewhere.example', 'Sec-Fetch-Site: cross-site', 'Host:', 'Host : sandbox', 'Authorization: Bearer sk_test_bytes', 'Authorization: Bearer sk_test_other',
  'Content-Type: application/json', 'Content-Type: text/plain', 'Content-Length: 0', 'Content-Length: 5', 'Content-Length: -1', 'Content-Length: +5',
  'Content-Length: 5, 5', 'Content-Length: 0x5', 'Content-Length: 99999999999999999999', 'Content-Length: 65537', 'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: chunked, identity', 'Transfer-Encoding: xchunked', 'Transfer-Encoding:\u000bchunked',
  'transfer-encoding : chunked', 'Connection: keep-alive', 'Connection: close', 'Connection: upgrade', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__',
  'Expect: 100-continue', 'Expect: nothing', 'Trailer: X', 'Content-Encoding: gzip', 'Content-Encoding: Identity', ' folded', '\tfolded', 'no colon', ': no name', 'X-Null: \u0000', 'X-Latin: \u00e9\u00ff', 'X\u00e9: y',
  `X-Long: ${'x'.repeat(20_000)}`, 'X-Wild: \u00ff', 'X-Bare: a\rb', 'X-Bare: a\nb', '', 'Keep-Alive: timeout=-1',
]; // prettier-ignore

const payout = JSON.stringify({ ...PAYOUT, amount: 1 });
const CHUNKS = [
  '5\r\nhello\r\n0\r\n\r\n', '0\r\n\r\n', 'zz\r\n', '5;x=y\r\nhello\r\n0\r\nX: y\r\n\r\n',
  '5\r\nhello\r\n0\r\nAuthorization: Bearer sk_test_other\r\n\r\n', 'ffffffffffffffff\r\n', '-1\r\n', '5\r\nhel', '5\nhello\n0\n\n',
  `${payout.length.toString(16)}\r\n${payout}\r\n0\r\n\r\n`,
]; // prettier-ignore

const body = fc.oneof(
  fc.constantFrom(
    '',
    '',
    payout,
    'x'.repeat(66_000),
    '{}',
    '[',
    '"\ud800"',
    '\u00ff\u00fe{',
    '{"amount":'.repeat(200),
    ...CHUNKS,
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

/** A request each part of which may be valid or invalid, independently of the others. */
const request = (targets: readonly string[]): fc.Arbitrary<string> =>
  fc
    .record({
      method: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom('GET', 'POST') },
        { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
      ),
      target: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...targets) },
        { weight: 1, arbitrary: fc.constantFrom(...TARGETS) },
      ),
      version: fc.constantFrom(...VERSIONS),
      lines: fc.array(
        fc.oneof(fc.constantFrom(...LINES), fc.string({ unit: 'binary-ascii', maxLength: 30 })),
        { maxLength: 8 },
      ),
      isSound: fc.boolean(),
      ends: fc.array(fc.constantFrom(...ENDS), { minLength: 1, maxLength: 3 }),
      body,
    })
    .map(({ method, target, version, lines, isSound, ends, body: text }) => {
      const end = (nth: number): string => (isSound ? '\r\n' : ends[nth % ends.length]!);
      const sound = isSound
        ? [
            'Host: localhost',
            'Authorization: Bearer sk_test_bytes',
            ...lines.filter((line) => /^[\w-]+: [\x20-\x7e]*$/.test(line)),
          ]
        : lines;
      const length =
        isSound && !/content-length|transfer-encoding/i.test(sound.join())
          ? ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]
          : [];
      const head = [`${method} ${target} ${version}`, ...sound, ...length];
      return `${head.map((line, nth) => line + end(nth)).join('')}${end(head.length)}${text}`;
    });

/** Damage in transit: what becomes of some of the bytes. */
const ACCIDENTS: Readonly<Record<string, (hit: Buffer, noise: Uint8Array) => readonly Uint8Array[]>> = {
  none: (hit) => [hit],
  flip: (hit) => [hit.map((byte) => byte ^ 0xff)],
  lose: () => [],
  double: (hit) => [hit, hit],
  insert: (hit, noise) => [noise, hit],
};

const accident = fc
  .record({
    damage: fc.constantFrom(...['none', 'none', ...Object.keys(ACCIDENTS)].map((how) => ACCIDENTS[how]!)),
    at: fc.nat(2000),
    length: fc.oneof(fc.integer({ min: 1, max: 64 }), fc.constant(Infinity)),
    noise: fc.uint8Array({ minLength: 1, maxLength: 16 }),
  })
  .map(({ damage, at, length, noise }) => (bytes: Buffer): Buffer => {
    const from = at % Math.max(bytes.length, 1);
    const [hit, after] = [bytes.subarray(from, from + length), bytes.subarray(from + length)];
    return Buffer.concat([bytes.subarray(0, from), ...damage(hit, noise), after]);
  });

/** Anything that a client may send on a connection. @param targets the paths of all routes */
export const hostileBytes = (targets: readonly string[]): fc.Arbitrary<HostileBytes> =>
  fc
    .record({
      requests: fc.array(request(targets), { minLength: 1, maxLength: 4 }),
      accident,
      cuts: fc.array(fc.nat(1000), { maxLength: 3 }),
    })
    .map(({ requests, accident: damaged, cuts }) => {
      const bytes = damaged(Buffer.from(requests.join(''), 'latin1'));
      const places = [
        0,
        ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b),
        bytes.length,
      ];
      const pieces = places.slice(1).map((place, nth) => bytes.subarray(places[nth], place));
      const shown = (): string => JSON.stringify(bytes.toString('latin1', 0, 300));
      return { pieces, hasHead: bytes.includes('HEAD'), [fc.toStringMethod]: shown };
    });
