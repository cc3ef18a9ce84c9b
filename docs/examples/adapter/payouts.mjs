// The code that every provider shares: this is what the tests are about. It knows adapters, and no provider's API. Each adapter has
//   send(order): 'ACCEPTED', 'REFUSED', or 'UNKNOWN' if the payout may have been made
//   read(reference): 'PAID', 'NOT PAID', or 'UNKNOWN' if it is not decided, or nobody says
import { setTimeout as pause } from 'node:timers/promises';

/** Pays an order once. @returns what `read` of the adapter says; after 'UNKNOWN', a later job has to ask again */
export async function payOrder(adapter, order, pauseMs = 200) {
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const sent = await adapter.send(order); // always with the same reference
    if (sent === 'REFUSED') return 'NOT PAID';
    if (sent === 'ACCEPTED') break;
    await pause(pauseMs * attempt);
  }
  return adapter.read(order.reference);
}
