/**
 * One choice for every point that the interface leaves open, each in one named place. docs/fidelity.md gives the
 * reason of each default. The rows that are answered by a shape or a function stand beside it: legal edges and
 * UTR (transaction.ts), lengths and unknown fields (contract/payout.ts), presets (settlement.ts).
 */
export const DEFAULT_DIALECT = {
  /** The word in `status` of an error's body, which is `{status, message, code, errors?}`. */
  errorStatusWord: 'error',
  /** The `message` of a payout that was accepted. */
  initiateMessage: 'Payout initiated successfully',
  /** A client_ref_id sent again with the same body: the payout as it stands, and no second debit. */
  repeatedReference: 'replay',
  /** A client_ref_id sent again with another body. */
  changedBody: 'DUPLICATE_REFERENCE',
  /** GET /payout/status without a key. */
  statusWithoutKey: 'UNAUTHORIZED',
  /** A transaction that this world does not have; also when both parameters are given and name two. */
  unknownTransaction: 'TRANSACTION_NOT_FOUND',
  /** What completed_at is while a payout is PENDING. */
  completedAtWhilePending: null,
  /** Formats and per-mode limits that a bank might refuse: accepted, and said in a header and the log. */
  doubtfulRequest: 'warn',
  /** The route that the rate limit holds for. */
  rateLimitedRoute: 'initiate',
} as const;
