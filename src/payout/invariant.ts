/**
 * States what must be true if our own code is right. Stays on in production: a sandbox that lies about money is
 * worse than one that stops a request.
 *
 * @throws Error, which a client sees as INTERNAL_ERROR: it is never the caller's doing
 */
export function invariant(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`broken invariant: ${what}`);
}
