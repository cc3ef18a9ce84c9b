import fc from 'fast-check';
import { TRANSFER_MODES } from '../../../src/contract/service.ts';
import type { ScenarioInput } from '../../../src/contract/control.ts';
import type { Command } from '../../../src/world/commands.ts';
import { findPayout } from '../../../src/world/ledger.ts';
import {
  advance,
  balance,
  initiate,
  load,
  save,
  sourceOf,
  status,
  type Core,
  type RuleInput,
} from './core.ts';

/** An action on a world. Times are ms of wall time that pass before it. */
export interface Act {
  readonly waitMs: number;
  readonly command: (world: Core) => Command | null;
  readonly name: string;
}

/** A restore of the world as it is. */
export const restoring: Act = {
  waitMs: 0,
  name: 'restore',
  command: ({ state }) => ({ kind: 'restore', state: load(save(state)), clock: 'from-snapshot' }),
};

/** A scenario whose future depends on everything a world remembers: seed, counters, windows, reads, steps, references. */
export const ENTANGLED: ScenarioInput = {
  wallet: { opening_balance: 100 },
  seed: 'entangled',
  settlement: {
    IMPS: [
      { to: 'SUCCESS', after: '200ms', utr: 'none' },
      { utr: 'now', after: '300ms' },
      { to: 'REVERSED', after: '900ms' },
    ],
    NEFT: [{ to: 'FAILED', after: '400ms' }],
    UPI: [
      { to: 'SUCCESS', polls: 2 },
      { to: 'REVERSED', after: '300ms' },
    ],
    RTGS: [],
  },
  dialect: { client_ref_id: { same_body: 'stored', changed_body: 'second_payout', valid_for: '400ms' } },
  outcomes: [
    { name: 'third', match: { payout: 3, amount: { lt: 50 } }, not_found: { reads: 1 } },
    {
      name: 'early',
      match: { transfer_mode: ['IMPS', 'UPI'] },
      during: { until: '400ms' },
      timeline: [
        { utr: 'now', after: '10ms' },
        { to: 'SUCCESS', after: '20ms' },
      ],
    },
    {
      name: 'either',
      match: { transfer_mode: ['IMPS', 'RTGS'] },
      weighted: [
        { weight: 2, timeline: [{ to: 'SUCCESS', after: '50ms' }] },
        { weight: 1, timeline: [{ to: 'FAILED', after: '60ms' }] },
      ],
      not_found: { for: '30ms' },
    },
  ],
  rules: [
    {
      name: 'busy',
      match: { route: 'initiate', amount: { lt: 1 } },
      during: { from: '100ms' },
      effect: { limit: { max: 2, per: '500ms' }, commit: true },
    },
    {
      name: 'twice',
      match: { route: 'initiate', transfer_mode: 'NEFT' },
      skip: 1,
      times: 2,
      effect: { respond: { status: 503 } },
    },
    {
      name: 'late',
      match: { route: 'initiate', attempt: 2 },
      effect: { commit: true, respond: { status: 500 }, timeline: [{ to: 'REVERSED', after: '1ms' }] },
    },
    {
      name: 'maybe',
      match: { route: 'initiate' },
      probability: 0.3,
      effect: { commit: true, respond: { status: 502 }, timeline: [{ to: 'FAILED', polls: 1 }] },
    },
    {
      name: 'afterwards',
      match: { route: 'initiate', amount: 5, transfer_mode: ['IMPS', 'NEFT'] },
      effect: { commit: { after: '120ms' }, respond: { status: 504 } },
    },
    {
      name: 'after-others',
      match: { route: 'initiate', amount: 5 },
      times: 3,
      effect: { commit: { after_requests: 2 }, fault: 'connection-reset' },
    },
    { name: 'hidden', match: { route: 'initiate', amount: { gt: 20 } }, effect: { not_found: { reads: 2 } } },
    { name: 'stale', match: { route: 'status' }, skip: 3, effect: { stale: '50ms' } },
  ],
};

const wait = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(300) });
const reference = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');

const act = (command: fc.Arbitrary<Act['command'] | Command>): fc.Arbitrary<Act> =>
  fc.record({ waitMs: wait, command }).map(({ waitMs, command }) => {
    const of = typeof command === 'function' ? command : () => command;
    return { waitMs, command: of, name: typeof command === 'function' ? 'act' : JSON.stringify(command) };
  });

const payment = fc.record({
  client_ref_id: reference,
  amount: fc.constantFrom(0.01, 5, 25.5, 60, 200),
  transfer_mode: fc.constantFrom(...TRANSFER_MODES),
});

/** Any valid timeline of up to three steps, by time or by reads. */
const timeline: fc.Arbitrary<NonNullable<RuleInput['effect']['timeline']>> = fc.constantFrom(
  [],
  [{ to: 'SUCCESS', after: '0s' }],
  [{ to: 'FAILED', after: '70ms', utr: 'now' }],
  [
    { utr: 'now', after: '10ms' },
    { to: 'SUCCESS', polls: 1 },
    { to: 'REVERSED', after: '20ms' },
  ],
  [
    { to: 'SUCCESS', after: '150ms' },
    { to: 'REVERSED', polls: 3 },
  ],
);

const notFound = fc.constantFrom({ reads: 1 }, { for: '20ms' });
const partly = { requiredKeys: [] };

/** Outcomes by mode, amount and draw, but not by what has come before. */
export const anyOutcomes: fc.Arbitrary<NonNullable<ScenarioInput['outcomes']>> = fc.array(
  fc
    .record(
      {
        match: fc.constantFrom({ transfer_mode: 'NEFT' }, { client_ref_id: { suffix: '2' } }, {}),
        during: fc.constantFrom({ until: '1s' }, { from: '1s' }),
        weighted: fc.array(fc.record({ weight: fc.integer({ min: 1, max: 3 }), timeline }), {
          minLength: 1,
          maxLength: 3,
        }),
        not_found: notFound,
      },
      partly,
    )
    .map((outcome) =>
      'weighted' in outcome ? outcome : Object.assign({ timeline: [{ utr: 'now', after: '15ms' }] }, outcome),
    ),
  { maxLength: 4 },
);

/** Rules by request, attempt and draw, but not by what has come before. */
export const anyRules: fc.Arbitrary<readonly RuleInput[]> = fc
  .array(
    fc.record({
      match: fc.constantFrom(
        { route: 'initiate', attempt: 1 },
        { route: 'initiate', client_ref_id: { suffix: '3' } },
        {},
      ),
      probability: fc.constantFrom(0.4, 1),
      effect: fc.record(
        {
          respond: fc.constantFrom({ status: 500 }, { status: 200, headers: { 'x-a': '{{txn_id}}' } }),
          fault: fc.constantFrom('connection-reset', 'malformed-json'),
          commit: fc.constantFrom(true, false, { after: '20ms' }),
          timeline,
          not_found: notFound,
          delay: fc.constant('1ms'),
        },
        { requiredKeys: ['delay'] },
      ),
    }),
    { maxLength: 4 },
  )
  .map((rules) => rules.map((rule, nth) => ({ ...rule, name: `rule-${nth}` })));

const rule = fc
  .record({ timeline, client_ref_id: reference, times: fc.option(fc.integer({ min: 1, max: 3 })) })
  .map(({ timeline, client_ref_id, times }): Command => ({
    kind: 'putRule',
    rule: {
      ...(times !== null && { times }),
      match: { route: 'initiate', client_ref_id },
      effect: { timeline },
    },
  }));

const request = fc.oneof(
  { weight: 5, arbitrary: payment.map((change) => initiate(change)) },
  { weight: 3, arbitrary: reference.map((client_ref_id) => status({ client_ref_id })) },
  { weight: 1, arbitrary: fc.constant(balance()) },
);

const money = fc
  .record({
    kind: fc.constantFrom('credit' as const, 'debit' as const),
    amountPaise: fc.constantFrom(1, 3000, 1e13),
  })
  .map((command): Command => command);

const transition = fc
  .record({ reference, to: fc.constantFrom('SUCCESS', 'FAILED', 'REVERSED') })
  .map(({ reference, to }) => ({ state }: Core): Command | null => {
    const payout = findPayout(state, { clientRefId: reference });
    return payout === undefined ? null : { kind: 'transition', txnId: payout.txnId, to };
  });

/** Requests, money, transitions and rules: everything that leaves the clock alone. */
export const anyWork = fc.oneof(
  { weight: 10, arbitrary: act(request) },
  { weight: 2, arbitrary: act(transition) },
  { weight: 2, arbitrary: act(money) },
  { weight: 1, arbitrary: act(rule) },
);

const clock = fc.oneof(
  fc.nat(1500).map((byMs): Command => advance({ byMs })),
  fc.constantFrom<Command>(
    advance({ until: 'idle' }),
    { kind: 'speed', speed: 0 },
    { kind: 'speed', speed: 1 },
    { kind: 'settle' },
  ),
);

const again = fc.constantFrom<Command>(
  { kind: 'reset', source: sourceOf(ENTANGLED) },
  { kind: 'choose', source: sourceOf({ settlement: 'demo' }, {}, 'other'), isChosen: true },
  { kind: 'choose', source: sourceOf(ENTANGLED), isChosen: false },
  { kind: 'removeRule', name: null },
);

/** Every action on a world except a restore. */
export const anyAct = fc.oneof(
  { weight: 12, arbitrary: anyWork },
  { weight: 3, arbitrary: act(clock) },
  { weight: 1, arbitrary: act(again) },
);

export const acts = (of: fc.Arbitrary<Act>, maxLength = 40) => fc.array(of, { maxLength, size: 'max' });

/** The result of each action, including refusals. */
export function run(world: Core, acts: readonly Act[], startMs = 0, each = (): void => undefined): unknown[] {
  let atMs = startMs;
  return acts.map(({ waitMs, command }) => {
    atMs += waitMs;
    const asked = command(world);
    if (asked === null) return null;
    let applied = world.apply(asked, atMs);
    const events = [...applied.events];
    while (applied.kind === 'unfinished') {
      applied = world.apply(applied.next);
      events.push(...applied.events);
    }
    each();
    return { ...applied, events };
  });
}
