import type { Socket } from 'node:net';

const REQUEST_TIMEOUT_MS = 30_000; // from the first byte of a request to its last
const TIMEOUT_CHECK_MS = 5_000; // how often that is checked

/** What Fastify makes the server of: HTTPS with a certificate, otherwise HTTP. @param certificate in PEM, with its key */
export function serverOptions(certificate: { readonly cert: string; readonly key: string } | undefined) {
  const http = {
    requireHostHeader: false, // request-checks.ts refuses it, in the envelope
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  };
  const https = certificate && { ...http, ...certificate, handshakeTimeout: REQUEST_TIMEOUT_MS };
  return { requestTimeout: REQUEST_TIMEOUT_MS, http, ...(https && { https }) };
}

/** The TCP connection below one of TLS; itself for any other. Node.js keeps it in this field, and has no other way to it. */
export const tcpSocketOf = (socket: Socket): Socket =>
  (socket as { readonly _parent?: Socket })._parent ?? socket;
