import type { State } from '../../src/contract/service.ts';
import type { HeldRequest, World } from '../../src/index.ts';
import type { Client, Seen } from './sandbox.ts';
import { START } from './world/ways-in.ts';

/** Sends a request to the control API, as any HTTP client would. */
export const ask = (client: Client, method: string, path: string, body?: unknown): Promise<Seen> =>
  client.send(method, `/_sandbox${path}`, { json: body });

/** The routes that the response to an unknown path lists: `POST /_sandbox/reset`. */
export const routesIn = (message: string): string[] =>
  message
    .split('The routes are ')[1]!
    .split(', ')
    .flatMap((route) => {
      const [, methods, path] = /^(.*) (\S+)$/.exec(route)!;
      return methods!.split(' and ').map((method) => `${method} ${path}`);
    });

/** The body of a refusal of the control API, with the invalid fields if there are any. */
export const refusal = (status: number, code: string, message: unknown, fields?: readonly string[]) => ({
  status,
  body: {
    status: 'error',
    code,
    message,
    ...(fields === undefined ? {} : { errors: fields.map((field) => ({ field })) }),
  },
});

/** A rule that answers every initiate with a status. */
export const answers = (status: number, name?: string) => ({
  ...(name === undefined ? {} : { name }),
  match: { route: 'initiate' },
  effect: { respond: { status } },
});

/** The requests that rules hold in a world, once there are this many, however long a busy machine takes. */
export const heldBy = (world: World, count: number): Promise<readonly HeldRequest[]> =>
  world.held(count, { within: '1h' });

/** World time, so many seconds after the start. */
export const after = (seconds: number): string => new Date(Date.parse(START) + seconds * 1000).toISOString();

/** Makes a payout of 100 INR and forces it into a state. @returns its id */
export async function payoutIn(world: Client, state: State, reference = 'order-1'): Promise<string> {
  const { txn_id } = (await world.pay({ client_ref_id: reference, amount: 100 })).body.data;
  if (state !== 'PENDING') await world.world.transition(txn_id, state);
  return txn_id as string;
}
