import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { DialectChange } from '../../src/contract/dialect.ts';
import { ScenarioDocument } from '../../src/contract/scenario.ts';

const fixture = (path: string): URL => new URL(`../../fixtures/${path}`, import.meta.url);

const PRESETS = [
  'magic',
  ...readdirSync(fixture('dialects')).map((file) => `dialects/${file.replace('.yaml', '')}`),
];

/** A dialect preset stands by itself: it says what differs from the default. */
const DialectFile = DialectChange.omit({ extends: true }).extend({ description: z.string() });

// After a change of the YAML: npx vitest run test/presets.test.ts -u
test.each(PRESETS)('%s is read at the start as JSON that says what its YAML says', async (name) => {
  const document: unknown = parse(readFileSync(fixture(`${name}.yaml`), 'utf8')) ?? {};
  expect(() => (name === 'magic' ? ScenarioDocument : DialectFile).parse(document)).not.toThrow();
  const json = `${JSON.stringify(document, null, 2)}\n`;
  await expect(json).toMatchFileSnapshot(fixture(`compiled/${name}.json`).pathname);
});

test('no JSON is left of a preset that is gone', () => {
  const compiled = readdirSync(fixture('compiled/'), { recursive: true, encoding: 'utf8' });
  const names = compiled.filter((file) => file.endsWith('.json')).map((file) => file.replace('.json', ''));
  expect(names.toSorted()).toEqual(PRESETS.toSorted());
});
