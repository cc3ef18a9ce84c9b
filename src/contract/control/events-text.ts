import { z } from 'zod';

/** What `GET /_sandbox/events` answers. */
export const EventsText: z.ZodType = z.string().meta({
  id: 'Events',
  description: [
    'Server-sent events, until the reader disconnects. Each has an `id`, a type (`event`) and one line of JSON (`data`):',
    '`request` a JournalEntry, when a request ends or begins to wait; `settlement` a Change;',
    '`wallet` `{balance, entry}`, for money that was credited or debited by hand; `clock` `{now, frozen}`;',
    '`at_risk` `{count, amount}`, when the payouts that the client was not told of change;',
    '`scenario` `{scenario, rule}`, when the scenario or the overrides change; `rule` `{rule, matched, taken}`, when a',
    'rule was applied to a request; `held` a HeldRequest and `released` `{id, how}`, when a request begins to wait and when its wait ends; `reset` and `restore` `{now}`; `missed` `{missed}`, how many events were dropped',
    'before this one, or null. A line that begins with `:` is a comment that keeps the connection open.',
  ].join(' '),
});
