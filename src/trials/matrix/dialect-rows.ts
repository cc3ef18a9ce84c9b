import { SWITCHES, type Dialect } from '../../contract/dialect.ts';
import { suggestion } from '../../contract/suggestion.ts';
import { UsageError } from '../../contract/usage-error.ts';
import { pairwise } from './pairwise.ts';

/** The dialects that a client is run with: presets, and changes to the known dialect of its service. */

export interface DialectRow {
  /** In the table: `status.unknown=400`, or `pairwise-7`. */
  readonly name: string;
  /** Its name as an option: `strict`, or every switch that it changes. */
  readonly choices: string;
  readonly dialect: Dialect;
}

export interface DialectSource {
  /** The dialect that the rows change. */
  readonly base: Dialect;
  readonly presets: ReadonlyMap<string, Dialect>;
  readonly seed: string;
}

type Value = string | number | null;
type Choice = readonly [name: string, value: Value];

const partsOf = (name: string) => name.split('.') as [string, string];

const valueIn = (dialect: Dialect, name: string): Value => {
  const [part, row] = partsOf(name);
  return (dialect as Readonly<Record<string, Readonly<Record<string, Value>>>>)[part]![row]!;
};

function withChoices(base: Dialect, choices: readonly Choice[]): Dialect {
  const dialect = structuredClone(base) as Record<string, Record<string, Value>>;
  for (const [name, value] of choices) {
    const [part, row] = partsOf(name);
    dialect[part]![row] = value;
  }
  return dialect as Dialect;
}

const choicesText = (choices: readonly Choice[]): string =>
  choices.map(([name, value]) => `${name}=${value}`).join('+');

/** A row for every choice that the base does not make. */
const oneRow = ({ base }: DialectSource): readonly DialectRow[] =>
  [...SWITCHES].flatMap(([name, values]) =>
    values
      .filter((value) => value !== valueIn(base, name))
      .map((value) => {
        const choices = choicesText([[name, value]]);
        return { name: choices, choices, dialect: withChoices(base, [[name, value]]) };
      }),
  );

const presetRows = ({ presets }: DialectSource): readonly DialectRow[] =>
  [...presets].map(([name, dialect]) => ({ name, choices: name, dialect }));

/** Rows in which every pair of choices of two switches occurs. */
function pairwiseRows({ base, seed }: DialectSource): readonly DialectRow[] {
  const switches = [...SWITCHES];
  const sizes = switches.map(([, values]) => values.length);
  return pairwise(sizes, seed).map((row, index) => {
    const choices = switches
      .map(([name, values], i): Choice => [name, values[row[i]!]!])
      .filter(([name, value]) => value !== valueIn(base, name));
    return {
      name: `pairwise-${index + 1}`,
      choices: choicesText(choices),
      dialect: withChoices(base, choices),
    };
  });
}

/** `status.unknown=400` as a choice. */
function choiceOf(text: string, presets: readonly string[]): Choice {
  if (text === '') throw new UsageError('--dialects is empty, or has an empty name between two commas');
  const [name = '', value] = text.split('=');
  const values = SWITCHES.get(name);
  if (value === undefined && values === undefined) {
    const known = [...GROUPS.keys(), ...presets];
    throw new UsageError(
      `--dialects: there is no ${text}${suggestion(text, known)}: use ${known.join(', ')}, or choices such as status.unknown=400`,
    );
  }
  if (values === undefined) {
    throw new UsageError(`--dialects: there is no switch ${name}${suggestion(name, [...SWITCHES.keys()])}`);
  }
  const known = values.find((one) => String(one) === value);
  if (known === undefined) throw new UsageError(`--dialects: ${name} must be one of ${values.join(', ')}`);
  return [name, known];
}

/** `strict`, `status.unknown=400`, or several choices with a plus between them. */
function namedRow(name: string, { base, presets }: DialectSource): DialectRow {
  const preset = presets.get(name);
  if (preset !== undefined) return { name, choices: name, dialect: preset };
  const choices = name.split('+').map((text) => choiceOf(text, [...presets.keys()]));
  const switches = choices.map(([switchName]) => switchName);
  const twice = switches.find((one, nth) => switches.indexOf(one) < nth);
  if (twice !== undefined) throw new UsageError(`--dialects: ${name} has two choices of ${twice}`);
  return { name, choices: name, dialect: withChoices(base, choices) };
}

const GROUPS: ReadonlyMap<string, (source: DialectSource) => readonly DialectRow[]> = new Map([
  ['one-row', oneRow],
  ['presets', presetRows],
  ['pairwise', pairwiseRows],
  ['none', () => []],
]);

/** The rows of some names: `one-row`, `presets`, `pairwise`, `none`, a preset, or choices such as `status.unknown=400`. */
export function dialectRows(names: readonly string[], source: DialectSource): readonly DialectRow[] {
  const rows = names.flatMap((name) => GROUPS.get(name)?.(source) ?? [namedRow(name, source)]);
  return [...new Map(rows.map((row) => [row.name, row])).values()];
}
