import { Refusal, type RefusalDetails } from '../contract/errors.ts';
import type { DropReason } from './order.ts';

const DROPPED: Readonly<Record<DropReason, { readonly why: string; readonly limit: string }>> = {
  idle: { why: 'it was idle for too long (SANDBOX_WORLD_IDLE)', limit: 'SANDBOX_WORLD_IDLE' },
  cap: { why: 'to make room for newer ones (SANDBOX_MAX_WORLDS)', limit: 'SANDBOX_MAX_WORLDS' },
  admin: { why: 'with DELETE /_sandbox/worlds', limit: 'DELETE /_sandbox/worlds' },
  elsewhere: {
    why: 'by another server, or it was idle for too long (SANDBOX_WORLD_IDLE)',
    limit: 'SANDBOX_STORE',
  },
  lost: { why: 'the store has lost it, or the end of its log', limit: 'SANDBOX_STORE' },
  stop: { why: 'the sandbox stops', limit: 'stop' },
};

/** The setting or the call that dropped a world. */
export const droppedBy = (reason: DropReason): string => DROPPED[reason].limit;

/** The refusal of a request to a world that was dropped. */
export function dropped(reason: DropReason): Refusal {
  const { why, ...limit } = DROPPED[reason];
  return new Refusal('SANDBOX_FULL', {
    message: `This world was dropped while the request waited: ${why}`,
    headers: { connection: 'close' }, // as for every response that the end of a world releases
    ...limit,
  });
}

/** The refusal of a request that needs a store which is away. */
export const unavailable = (details: RefusalDetails = {}): Refusal =>
  new Refusal('STORE_UNAVAILABLE', { ...details, headers: { 'retry-after': '1' } });
