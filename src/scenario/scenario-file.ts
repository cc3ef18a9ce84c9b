import type { ScenarioSettings } from '../contract/snapshot.ts';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join, sep } from 'node:path';
import { parse } from 'yaml';
import {
  changedDialect,
  DEFAULT_DIALECT,
  DialectFile,
  type Dialect,
  type DialectChange,
} from '../contract/dialect.ts';
import type { ScenarioInput } from '../contract/control.ts';
import { NamedRuleDocument } from '../contract/scenario-document.ts';
import { reported } from '../contract/shape-issues.ts';
import { compileScenario, scenarioShape, type Scenario } from './scenario.ts';
import { nearestNames } from '../contract/suggestion.ts';
import { systemReason, textOfBytes, unreadable, UsageError } from '../contract/usage-error.ts';
import type { Rule } from './rule.ts';
import { compileRule } from './rule-compiler.ts';
import { packageFile } from '../package-files.ts';
import magicRules, { shape } from '../../fixtures/magic.yaml';
import { tooManyPatterns, reportTextPatterns } from './pattern.ts';
import { warnOfScenario } from './scenario-warnings.ts';
import {
  checkedShape,
  problemText,
  readText,
  readValue,
  type Problem,
  type TextRead,
} from './scenario-text.ts';
import type { Report } from './planned-timeline.ts';

/** The scenarios, dialects and rules that ship with the sandbox. */
export const SHIPPED = packageFile('fixtures/');
const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** Files or documents that cannot be used. Each line names the file, the place and what is wrong. */
export class ScenarioError extends UsageError {
  override readonly name = 'ScenarioError';
  readonly lines: readonly string[];
  /** The same problems without the name of the file; empty when the file itself cannot be used. */
  readonly problems: readonly Problem[];
  readonly more: number;

  constructor(lines: readonly string[], problems: readonly Problem[] = [], more = 0) {
    super(lines.join('\n'));
    this.lines = lines;
    this.problems = problems;
    this.more = more;
  }
}

/** The name of the scenario that changes none of the settings. */
export const BASE = 'default';

/** Scenario names that rules of the sandbox use: `magic/status-402`, `world/my-rule`. */
const OUR_NAMES: ReadonlySet<string> = new Set(['magic', 'world']);

const NAME = /^[\w.-]{1,64}$/;

export const nameOf = (file: string): string => basename(file, extname(file));

/** True for YAML and JSON files, except hidden ones, since editors leave such files behind. */
export const isScenarioFile = (path: string): boolean =>
  EXTENSIONS.has(extname(path).toLowerCase()) && !basename(path).startsWith('.');

export const sameNameText = (file: string, other: string): string =>
  `${file} has the same name as ${other}: scenarios are chosen by name`;

/** The scenario files of a folder, by name. */
export function filesIn(folder: string): Map<string, string> {
  let entries: string[];
  try {
    entries = readdirSync(folder).toSorted();
  } catch (error) {
    throw new ScenarioError([
      `${folder} cannot be read (${systemReason(error)}): it must be a folder of scenario files`,
    ]);
  }
  const files = new Map<string, string>();
  for (const entry of entries.filter((name) => isScenarioFile(name))) {
    const name = nameOf(entry);
    const other = files.get(name);
    if (other !== undefined) throw new ScenarioError([sameNameText(join(folder, entry), other)]);
    files.set(name, `${folder}${sep}${entry}`);
  }
  return files;
}

/** @throws ScenarioError for a file that is not text */
function textOf(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new ScenarioError([unreadable(file, error)]);
  }
  const text = textOfBytes(bytes);
  if (text !== undefined) return text;
  throw new ScenarioError([`${file} is not a text file: it must be YAML or JSON in UTF-8`]);
}

/** The error for a choice that is neither a known name nor the path of a YAML or JSON file. @param known the names that can be used, in words */
export function unknownChoice(
  what: 'scenario' | 'dialect',
  choice: string,
  names: readonly string[],
  known: string,
): ScenarioError {
  if (!existsSync(choice)) {
    const near = nearestNames(choice, names);
    return new ScenarioError([`there is no ${what} ${choice}${near}. Use ${known} or the path of a file`]);
  }
  const kind = statSync(choice).isDirectory() ? 'a folder' : 'a file of another type';
  return new ScenarioError([
    `${choice} is ${kind}: use a file that ends in .yaml, .yml or .json, or ${known}`,
  ]);
}

/** Reads a dialect: a preset by its name, or a file with changes to one. @throws ScenarioError with what is wrong with it */
export function readDialect(nameOrFile: string): Dialect {
  const presets = shippedDialects();
  const preset = presets.get(nameOrFile);
  if (preset !== undefined) return preset;
  const known = `one of ${[...presets.keys()].join(', ')}`;
  if (!isScenarioFile(nameOrFile)) throw unknownChoice('dialect', nameOrFile, [...presets.keys()], known);
  const read = readText(textOf(nameOrFile));
  const { value, problems } = checkedShape(read, DialectFile);
  if (value === null) throw refusal(nameOrFile, problems);
  const base = presets.get(value.extends ?? 'default');
  const wrong: Problem[] = [];
  const report: Report = (path, message) => void wrong.push(read.problemAt(path, message));
  if (base === undefined) report(['extends'], `must be ${known}`);
  reportTextPatterns(value, report);
  if (wrong.length > 0) throw refusal(nameOrFile, wrong);
  return changedDialect(base!, value);
}

let dialects: ReadonlyMap<string, Dialect> | undefined;

/** The dialect presets by name, read at their first use. Their shape is not checked here, since a test does. */
export function shippedDialects(): ReadonlyMap<string, Dialect> {
  dialects ??= new Map(
    [...filesIn(join(SHIPPED, 'dialects'))].map(([name, file]) => [
      name,
      changedDialect(DEFAULT_DIALECT, parse(textOf(file)) as DialectChange),
    ]),
  );
  return dialects;
}

let magic: Scenario | undefined;

/** The rules and outcomes of the magic beneficiaries, compiled at their first use. They are the same with all settings. */
const shippedMagic = (settings: ScenarioSettings): Scenario =>
  (magic ??= scenarioOf(readValue(magicRules), 'magic.yaml', { ...settings, isMagic: false }, () => shape));

/** A scenario is read and compiled while all other requests wait. */
const MAX_CHARACTERS = 64 * 1024;

/** @throws ScenarioError */
function refuseTooLong(file: string, length: number, of: string): void {
  if (length <= MAX_CHARACTERS) return;
  const message = `must be at most ${MAX_CHARACTERS} characters ${of}`;
  throw refusal(file, [{ place: null, path: '', message }]);
}

/** Makes a scenario of a document that was read. @param file its name in messages @throws ScenarioError with all that is wrong with it */
function scenarioOf(read: TextRead, file: string, settings: ScenarioSettings, shapeOf = scenarioShape) {
  const { input, problems, problemAt } = read;
  if (problems.length > 0) throw refusal(file, problems);
  refuseTooLong(file, (JSON.stringify(input) ?? '').length, 'as JSON');
  const { document, issues } = shapeOf(input);
  const found = issues.map(({ path, message, isUnknownKey }) => problemAt(path, message, isUnknownKey));
  const excess = tooManyPatterns([...document.outcomes, ...document.rules].map((one) => one?.match ?? {}));
  if (excess !== null) throw refusal(file, [...found, problemAt([], excess)]); // so many are not compiled
  const source = { name: nameOf(file), document: input, settings };
  const last = settings.isMagic ? shippedMagic(settings) : { outcomes: [], rules: [] };
  const scenario = compileScenario(document, source, last, shippedDialects, (path, message) =>
    found.push(problemAt(path, message)),
  );
  if (found.length > 0) throw refusal(file, found);
  return scenario;
}

/** A scenario as it was written, and warnings of likely mistakes. @param file its name in messages @throws ScenarioError */
export function checkScenario(read: TextRead, file: string, settings: ScenarioSettings) {
  scenarioOf(read, file, settings);
  const { document } = scenarioShape(read.input);
  const found: Problem[] = [];
  warnOfScenario(document, (path, message) => found.push(read.problemAt(path, message)));
  return { document: read.input as ScenarioInput, warnings: inOrder(found) };
}

/** Sorts problems by their places in the text. */
const inOrder = (problems: readonly Problem[]): readonly Problem[] =>
  problems.toSorted(
    ({ place: a }, { place: b }) => (a && b && (a.line - b.line || a.column - b.column)) || 0,
  );

/** The error for a file or document with problems. */
function refusal(file: string, problems: readonly Problem[]): ScenarioError {
  const { shown, more } = reported(inOrder(problems));
  const lines = shown.map((problem) => problemText(file, problem));
  if (more > 0) lines.push(`${file}: and ${more} more`);
  return new ScenarioError(lines, shown, more);
}

/** The compiled overrides, by their documents, which a state keeps as they are. */
const compiledRules = new WeakMap<object, Rule>();

/** @throws ScenarioError with what is wrong with an override of a world */
function ruleOf(source: unknown): Rule {
  const known = compiledRules.get(source as object);
  if (known !== undefined) return known;
  const read = readValue(source);
  const { value, problems } = checkedShape(read, NamedRuleDocument);
  if (value === null) throw refusal('rule', problems);
  const excess = tooManyPatterns([value.match ?? {}]);
  if (excess !== null) throw refusal('rule', [read.problemAt(['match'], excess)]);
  const found: Problem[] = [];
  const rule = compileRule(value, source, 'world', (path, message) =>
    found.push(read.problemAt(path, message)),
  );
  if (found.length > 0) throw refusal('rule', found);
  compiledRules.set(source as object, rule);
  return rule;
}

/** Compiles all overrides of a world. @throws ScenarioError with what is wrong with the first wrong one */
export function rulesOf(documents: readonly unknown[]): readonly Rule[] {
  const rules = documents.map((source) => ruleOf(source));
  const message = tooManyPatterns(rules.map(({ match }) => match));
  if (message !== null) throw refusal('rule', [{ place: null, path: 'match', message }]);
  return rules;
}

/** Refuses a name that a scenario cannot have. @throws ScenarioError */
function checkName(name: string, whose: string): void {
  if (OUR_NAMES.has(name)) {
    throw new ScenarioError([
      `${whose} must have another name: the rules of the sandbox use the name ${name}`,
    ]);
  }
  if (!NAME.test(name)) {
    throw new ScenarioError([
      `${whose} must have a name of letters, digits, dots, hyphens and underscores, at most 64 characters, since headers contain it`,
    ]);
  }
}

/** The text of a scenario file. @throws ScenarioError when its name cannot be used, or it cannot be read */
export function scenarioText(file: string): string {
  if (!file.startsWith(SHIPPED)) checkName(nameOf(file), file);
  if (nameOf(file) === BASE) {
    throw new ScenarioError([
      `${file} must have another name: ${BASE} is the scenario that changes none of the settings`,
    ]);
  }
  const text = textOf(file);
  refuseTooLong(file, text.length, 'long');
  return text;
}

/** Makes a scenario of the text of a file. @throws ScenarioError with what is wrong with it */
export const readScenario = (file: string, text: string, settings: ScenarioSettings): Scenario =>
  scenarioOf(readText(text), file, settings);

/** Makes a scenario of a copy of a document. @throws ScenarioError with what is wrong with it, or with its name */
export function documentScenario(document: unknown, name: string, settings: ScenarioSettings): Scenario {
  checkName(nameOf(name), 'a scenario');
  const copy: unknown = JSON.parse(JSON.stringify(document ?? null));
  return scenarioOf(readValue(copy), name, settings);
}
