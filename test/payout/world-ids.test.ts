import { expect, test } from 'vitest';
import { worldIdOf } from '../../src/payout/identity.ts';

test('a key names the same world in every version, which finds it in stores and state files by its id', () => {
  expect(worldIdOf('sk_test_demo')).toBe('a7d0c707c74a5bce513453fd02f4155d');
});
