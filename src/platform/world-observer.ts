import type { Logger } from 'pino';
import type { Change } from '../payout/payout.ts';

/** Writes a line for each settlement, and for what happens to worlds. @param settled is called for each settlement too */
export const observeWorlds = (log: Logger, settled?: (change: Change) => void) => ({
  settled: (worldId: string, change: Change): void => {
    settled?.(change);
    if (!log.isLevelEnabled('info')) return; // there may be a million of them
    log.info(
      {
        world: worldId.slice(0, 8),
        txn_id: change.txnId,
        client_ref_id: change.clientRefId,
        from: change.from,
        to: change.to,
        at: new Date(change.atMs).toISOString(),
        utr: change.utr ?? undefined,
      },
      'settlement',
    );
  },
  failed: (worldId: string, error: unknown): void =>
    log.error({ world: worldId.slice(0, 8), err: error }, 'a fault of the sandbox'),
  dropped: (worldId: string, reason: string): void =>
    log.info({ world: worldId.slice(0, 8), reason }, 'world dropped'),
});
