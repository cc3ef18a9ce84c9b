import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { systemReason } from '../contract/usage-error.ts';
import { SettingsError, type Settings } from '../settings.ts';
import { selfSignedCertificate } from './self-signed.ts';

/** What HTTPS is served with. */
export interface Certificate {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  /** Where a certificate is that was made at the start; undefined for one of the user. */
  readonly file?: string;
  /** Removes that file. */
  readonly dispose: () => Promise<void>;
}

const DAY_MS = 86_400_000;

/** Makes a certificate for the names of this machine, also as containers on it know it, and for those that the sandbox serves. */
async function selfSigned(served: readonly string[], nowMs: number): Promise<Certificate> {
  const names = new Set(['localhost', 'host.docker.internal', hostname(), ...served]);
  const addresses = [Buffer.from([127, 0, 0, 1]), Buffer.alloc(16).fill(1, 15)]; // ::1
  const fromMs = nowMs - DAY_MS; // for clocks that are behind
  const pair = selfSignedCertificate([...names], addresses, fromMs, nowMs + 365 * DAY_MS);
  const folder = await mkdtemp(join(tmpdir(), 'payout-sandbox-'));
  const file = join(folder, 'certificate.pem');
  await writeFile(file, pair.cert);
  return { ...pair, file, dispose: () => rm(folder, { recursive: true, force: true }) };
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new SettingsError(`${file} cannot be read (${systemReason(error)})`, { cause: error });
  }
}

/** The certificate that the settings name, or have made. @throws SettingsError */
export async function certificateOf(
  { tls, tlsCert, tlsKey, allowedHosts = [] }: Settings,
  nowMs: number,
): Promise<Certificate> {
  if (tls !== undefined && (tlsCert ?? tlsKey) === undefined) return selfSigned(allowedHosts, nowMs);
  if (tls !== undefined || tlsCert === undefined || tlsKey === undefined)
    throw new SettingsError(
      'HTTPS needs tls (--tls, SANDBOX_TLS), or both tlsCert and tlsKey (--tls-cert, --tls-key)',
    );
  const pair = { cert: await textOf(tlsCert), key: await textOf(tlsKey) };
  try {
    createSecureContext(pair);
  } catch (error) {
    const why = (error as Error).message;
    throw new SettingsError(`${tlsCert} is not a certificate, or ${tlsKey} is not its key: ${why}`, {
      cause: error,
    });
  }
  return { ...pair, dispose: () => Promise.resolve() };
}
