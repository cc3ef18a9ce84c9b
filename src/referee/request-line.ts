import { timeText } from '../contract/duration.ts';
import { withoutControls } from '../world/journal/journal-text.ts';
import type { Call } from './call.ts';

const METHODS = { initiate: 'POST initiate', status: 'GET status', balance: 'GET balance' } as const;

function responseOf({ entry, seen, status }: Call): string {
  const { fault, outcome } = entry;
  if (fault !== null) return fault;
  if (outcome === 'client_gone') return 'no response';
  if (status === null) return outcome === 'pending' ? 'under way' : 'no response';
  return seen.kind === 'state' ? `${status} ${seen.state}` : `${status}`;
}

/** A request in one line, in two columns: `#3 POST initiate order-7  hang, committed; client left after 300 ms` */
export function requestLine(call: Call): string {
  const { entry, id, route, reference, wasLeft, seen, committed } = call;
  const facts = [responseOf(call)];
  if (committed === true) facts.push('committed');
  if (committed === false && seen.kind === 'unknown') facts.push('not committed');
  if (entry.replayed) facts.push('replayed');
  let text = `#${id} ${route === null ? entry.request.method : METHODS[route]}`;
  if (reference !== null) text += ` ${reference}`;
  text += `  ${facts.join(', ')}`;
  if (wasLeft && entry.duration_ms !== null) text += `; client left after ${timeText(entry.duration_ms)}`;
  const { traceparent } = entry.request.headers;
  if (typeof traceparent === 'string') text += `; traceparent ${traceparent}`;
  return withoutControls(text);
}
