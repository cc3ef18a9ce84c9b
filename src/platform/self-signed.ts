import { generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';

/** A self-signed certificate (RFC 5280) in DER. Libraries that make one bring 600 KB and twenty packages. */

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

const ECDSA_WITH_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';
const SUBJECT_ALT_NAME = '551d11';

/** A value with its tag and its length. */
function der(tag: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const { length } = content;
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  const size = length < 0x80 ? [length] : long;
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const objectId = (hex: string): Buffer => der(OBJECT_ID, Buffer.from(hex, 'hex'));
const time = (atMs: number): Buffer =>
  der(UTC_TIME, `${new Date(atMs).toISOString().slice(2, 19).replaceAll(/\D/g, '')}Z`);

/** @param names that clients may call it by @param addresses IP addresses as bytes @returns certificate and private key in PEM */
export function selfSignedCertificate(
  names: readonly string[],
  addresses: readonly Buffer[],
  fromMs: number,
  untilMs: number,
) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, objectId(ECDSA_WITH_SHA256));
  const subject = der(
    SEQUENCE,
    der(SET, der(SEQUENCE, objectId(COMMON_NAME), der(UTF8_STRING, 'payout-sandbox'))),
  );
  const alternatives = der(
    SEQUENCE,
    ...names.map((name) => der(DNS_NAME, name)),
    ...addresses.map((address) => der(IP_ADDRESS, address)),
  );
  const signed = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))), // the third version
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(15)])), // positive
    algorithm,
    subject, // which is also its issuer
    der(SEQUENCE, time(fromMs), time(untilMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      EXTENSIONS,
      der(SEQUENCE, der(SEQUENCE, objectId(SUBJECT_ALT_NAME), der(OCTET_STRING, alternatives))),
    ),
  );
  const signature = sign('sha256', signed, privateKey);
  const whole = der(
    SEQUENCE,
    signed,
    algorithm,
    der(BIT_STRING, Buffer.concat([Buffer.from([0]), signature])),
  );
  return {
    cert: new X509Certificate(whole).toString(),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}
