import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ScenarioInput } from '../../src/contract/control.ts';
import type { StatusQuery } from '../../src/contract/service.ts';
import { isPureRead } from '../../src/world/request/pure-read.ts';
import { acts, anyAct, ENTANGLED, run } from '../support/commands.ts';
import { balance, compiler, Core, save, sourceOf, START_MS, status } from '../support/core.ts';

const withoutWallTime = ({ state }: Core) => save({ ...state, wallMs: 0 });

test('a read that is left out of the log changes nothing, after any commands', () => {
  const reads = ['a', 'b', 'nobody'].map((client_ref_id) => status({ client_ref_id }));
  let pure = 0;
  fc.assert(
    fc.property(acts(anyAct, 15), (history) => {
      const world = new Core({ ...ENTANGLED, rules: ENTANGLED.rules!.filter(({ name }) => name !== 'late') });
      run(world, history, 0, () => {
        for (const read of [...reads, balance()]) {
          const before = withoutWallTime(world);
          if (!isPureRead(world.state, read, compiler)) continue;
          pure += 1;
          expect(world.apply(read).events).toEqual([]);
          expect(withoutWallTime(world)).toEqual(before);
        }
      });
    }),
  );
  expect(pure).toBeGreaterThan(0); // else nothing was checked; how many there are depends on what was drawn
});

const rule = (match: object, effect: object) =>
  ({ rules: [{ name: 'rule', match, effect }] }) as ScenarioInput;

test.each<[string, ScenarioInput, boolean]>([
  ['nothing that counts', {}, true],
  ['a rule for other requests', rule({ route: 'balance' }, { delay: '1s' }), true],
  ['a rule that matches, and is counted', rule({ route: 'status' }, { delay: '1s' }), false],
  ['attempts that are counted', rule({ route: 'status', attempt: 5 }, { delay: '1s' }), false],
  ['no rate limit, as its scenario says', { rate_limit: 'off' }, true],
  ['a rate limit of its scenario for initiates', { rate_limit: { max: 9, per: '1s' } }, true],
  [
    'a rate limit of its scenario for all routes',
    { rate_limit: { max: 9, per: '1s' }, dialect: { rate_limit: { routes: 'all' } } },
    false,
  ],
  ['a step that waits for reads', { settlement: { IMPS: [{ to: 'SUCCESS', polls: 3 }] } }, false],
  ['a payout that is hidden for some reads', rule({ route: 'initiate' }, { not_found: { reads: 2 } }), false],
  ['a step that is due', { settlement: { IMPS: [{ to: 'SUCCESS', after: '1s' }] } }, false],
])('a status read with %s is logged only if it must be', (_what, scenario, isPure) => {
  const world = new Core(scenario);
  world.pay('a', {}, 0);
  const later = { ...world.state, wallMs: START_MS + 2000 };
  expect(isPureRead(later, status({ client_ref_id: 'a' }), compiler)).toBe(isPure);
});

test('a status read that chooses a scenario is logged if that scenario makes it count', () => {
  const world = new Core({ settlement: { UPI: [{ to: 'SUCCESS', polls: 3 }] } });
  world.pay('a', {}, 0);
  world.pay('upi', { transfer_mode: 'UPI' }, 0);
  const isPure = (query: StatusQuery, scenario: ScenarioInput) =>
    isPureRead(world.state, status(query, { scenario: sourceOf(scenario) }), compiler);
  expect(isPure({ client_ref_id: 'a' }, {})).toBe(true);
  expect(isPure({ client_ref_id: 'a' }, rule({ route: 'status' }, { delay: '1s' }))).toBe(false);
  const both = { client_ref_id: 'a', txn_id: world.state.payouts[1]!.txnId };
  expect(isPure(both, { dialect: { status: { both: 'client_ref_id' } } })).toBe(true);
  expect(isPure(both, { dialect: { status: { both: 'txn_id' } } })).toBe(false);
});
