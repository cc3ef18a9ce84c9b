import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashOf, NO_ADDRESS, readAddress, type Address } from '../../src/dashboard/shell/address.ts';
import { testRows } from '../support/test-rows.ts';

const textOrNull = fc.option(fc.string({ minLength: 1 }));
const filter = fc.dictionary(fc.constantFrom('state', 'text', 'a.b', 'kind'), fc.string());

test('an address is the same after it was written and read, whatever its texts contain', () => {
  const addresses = fc.record<Address>({
    view: fc.option(fc.constantFrom('overview', 'payouts')),
    world: textOrNull,
    payout: textOrNull,
    request: fc.option(fc.integer({ min: 1 })),
    payouts: filter,
    requests: filter,
  });
  fc.assert(
    fc.property(addresses, (address) => {
      expect(readAddress(hashOf(address))).toEqual({ key: null, address });
    }),
  );
});

test('a link reads like what it shows', () => {
  const address: Address = {
    ...NO_ADDRESS,
    view: 'payouts',
    world: '1f0c9a2b',
    payouts: { state: 'FAILED' },
  };
  expect(hashOf(address)).toBe('#payouts?world=1f0c9a2b&payouts.state=FAILED');
  expect(hashOf(NO_ADDRESS)).toBe('');
});

test('a link to a view leaves the world, the filters and what is open as they are', () => {
  const was: Address = { ...NO_ADDRESS, view: 'overview', world: '1f0c9a2b', request: 4 };
  expect(readAddress('#world', was).address).toEqual({ ...was, view: 'world' });
});

test.each(['#key=sk_test_a', '#payouts?key=sk_test_a&payout=T1'])(
  'the key of a link is read apart from its address, so that no address contains it: %s',
  (hash) => {
    const was: Address = { ...NO_ADDRESS, view: 'scenario' };
    expect(readAddress(hash, was)).toEqual({ key: 'sk_test_a', address: was });
  },
);

testRows(['0', '-1', '1.5', 'one', '1e99', ''])(
  'an address without the number of a request opens none',
  (request) => {
    expect(readAddress(`#requests?request=${request}`).address.request).toBeNull();
  },
);
