import { expect, test } from 'vitest';
import { Behaviour } from '../../src/world/behaviour.ts';
import { ruleOf, scenarioOf } from '../support/one-world.ts';

const used = { matched: 1, taken: 1 };
const ids = ({ scenario }: Behaviour) => scenario.rules.map(({ id }) => id);

test('a rule that is put again takes the place of the one of its name, and counts from the beginning', () => {
  const behaviour = new Behaviour(() => scenarioOf());
  behaviour.put(ruleOf('a'));
  behaviour.put(ruleOf('b'));
  expect(ids(behaviour)).toEqual(['test/b', 'test/a']);
  behaviour.uses.set('test/a', used);
  behaviour.uses.set('test/b', used);
  behaviour.put(ruleOf('a'));
  expect([...behaviour.uses.keys()]).toEqual(['test/b']);
  expect(ids(behaviour)).toEqual(['test/a', 'test/b']);
  expect(behaviour.remove('test/b')).toBe(true);
  expect(ids(behaviour)).toEqual(['test/a']);
  expect(behaviour.uses.size).toBe(0);
});

test('to remove a rule that is not on top changes no count', () => {
  const behaviour = new Behaviour(() => scenarioOf({ rules: [{ name: 'own', effect: {} }] }));
  behaviour.uses.set('test/own', used);
  expect(behaviour.remove('test/own')).toBe(false);
  expect([...behaviour.uses.keys()]).toEqual(['test/own']);
});

test('with another scenario its own rules count from the beginning, and those on top go on', () => {
  const behaviour = new Behaviour(() => scenarioOf());
  behaviour.put(ruleOf('on-top'));
  behaviour.uses.set('test/on-top', used);
  behaviour.uses.set('test/own', used);
  behaviour.choose(scenarioOf());
  expect([...behaviour.uses.keys()]).toEqual(['test/on-top']);
});

test('cleared, a world follows the scenario in force, with nothing on top and nothing counted', () => {
  const inForce = scenarioOf({ description: 'in force' });
  const behaviour = new Behaviour(() => inForce);
  behaviour.put(ruleOf('on-top'));
  behaviour.uses.set('test/on-top', used);
  expect(ids(behaviour)).toEqual(['test/on-top']);
  behaviour.clear();
  expect([behaviour.scenario === inForce, behaviour.onTop, behaviour.uses.size]).toEqual([true, [], 0]);
  behaviour.choose(scenarioOf());
  behaviour.clear();
  expect([behaviour.hasChosen, behaviour.plain === inForce]).toEqual([false, true]);
});
