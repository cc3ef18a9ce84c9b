import type { ReleaseRequest } from '../contract/control.ts';
import type { HeldRequestResponse } from '../contract/control/held-responses.ts';
import type { ControlClient } from './control-client.ts';

/** What the client of a released request sees: the normal response if nothing is given. */
export type ReleaseOrder = NonNullable<ReleaseRequest>;

/** A request that a rule holds. */
export interface HeldRequest extends HeldRequestResponse {
  /**
   * Releases it. A request that has only arrived makes its payout now, before this resolves.
   *
   * @param order what the client sees instead of the response: `{ fault: 'connection-reset' }`, `{ respond: { status: 500 } }`
   * @throws SandboxError HELD_NOT_FOUND when it was released, expired, or its client left
   */
  release(order?: ReleaseOrder): Promise<void>;
}

export interface HeldOptions {
  /** How long to wait for the requests, in wall time: `10s` by default. */
  readonly within?: string;
}

/** Waits until this many requests are held. @returns them in the order in which they arrived */
export async function heldRequests(
  control: ControlClient,
  count: number | undefined,
  { within }: HeldOptions,
): Promise<readonly HeldRequest[]> {
  const { held } = await control.get<{ held: HeldRequestResponse[] }>('/held', { count, within });
  return held.map((request) =>
    Object.assign(request, {
      async release(order?: ReleaseOrder): Promise<void> {
        await control.post(`/held/${request.id}/release`, order);
      },
    }),
  );
}
