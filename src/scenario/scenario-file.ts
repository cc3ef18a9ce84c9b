import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { changedDialect, DEFAULT_DIALECT, type Dialect, type DialectChange } from '../contract/dialect.ts';
import { RuleDocument, ScenarioDocument } from '../contract/scenario-document.ts';
import { reported } from '../contract/shape-issues.ts';
import type { ScenarioSettings } from '../contract/snapshot-lines.ts';
import { compileScenario, type Scenario } from './scenario.ts';
import type { Rule } from './rule.ts';
import { compileRule } from './rule-compiler.ts';
import { packageFile } from '../package-files.ts';
import { matchPatternSize, MAX_OVERRIDE_PATTERN_SIZE, tooLarge } from './pattern-size.ts';
import type { Report } from './planned-timeline.ts';
import { problemText, readText, readValue, type Problem, type TextRead } from './scenario-text.ts';

/** The scenarios, dialects and rules that ship with the sandbox. */
export const SHIPPED = packageFile('fixtures/');
const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** Files or documents that cannot be used. Each line names the file, the place and what is wrong. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';
  readonly lines: readonly string[];
  /** The same problems without the name of the file; empty when the file itself cannot be used. */
  readonly problems: readonly Problem[];
  /** How many more problems there are than those reported. */
  readonly more: number;

  constructor(lines: readonly string[], problems: readonly Problem[] = [], more = 0) {
    super(lines.join('\n'));
    this.lines = lines;
    this.problems = problems;
    this.more = more;
  }
}

/** Scenario names that rules of the sandbox use: `magic/status-402`, `world/my-rule`. */
const OUR_NAMES: ReadonlySet<string> = new Set(['magic', 'world']);

/** The allowed names of scenarios. */
const NAME = /^[\w.-]{1,64}$/;

export const nameOf = (file: string): string => basename(file, extname(file));

/** True for YAML and JSON files, except hidden ones, since editors leave such files behind. */
export const isScenarioFile = (path: string): boolean =>
  EXTENSIONS.has(extname(path).toLowerCase()) && !basename(path).startsWith('.');

/** The scenario files of a folder, by name. */
export function filesIn(folder: string): Map<string, string> {
  let entries: string[];
  try {
    entries = readdirSync(folder).toSorted();
  } catch {
    throw new ScenarioError([`${folder} cannot be read: it must be a folder of scenario files`]);
  }
  const files = new Map<string, string>();
  for (const entry of entries.filter((name) => isScenarioFile(name))) {
    const name = nameOf(entry);
    const other = files.get(name);
    if (other !== undefined) {
      throw new ScenarioError([
        `${join(folder, entry)} has the same name as ${other}: scenarios are chosen by name`,
      ]);
    }
    files.set(name, join(folder, entry));
  }
  return files;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const isFolder = (error as NodeJS.ErrnoException).code === 'EISDIR';
    throw new ScenarioError([`${file} ${isFolder ? 'is a folder, not a file' : 'cannot be read'}`]);
  }
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

/** A value without the parts that do not fit its schema; undefined when the rest does not fit either. */
function pruned(schema: z.ZodType, input: unknown): unknown {
  if (schema.safeParse(input).success) return input;
  if (schema instanceof z.ZodOptional) return pruned(schema.unwrap() as z.ZodType, input);
  if (schema instanceof z.ZodUnion) {
    const options = (schema.options as readonly z.ZodType[]).map((option) => pruned(option, input));
    return options.find((option) => option !== undefined);
  }
  if (!(schema instanceof z.ZodObject) || typeof input !== 'object' || input === null) return undefined;
  const parts = prunedParts(schema, input);
  return schema.safeParse(parts).success ? parts : undefined;
}

const prunedParts = ({ shape }: z.ZodObject, input: unknown): Record<string, unknown> => {
  const parts = Object.entries(shape).map(([key, part]) => {
    return [key, pruned(part as z.ZodType, (input as Record<string, unknown> | null)?.[key])] as const;
  });
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
};

const PartialRule = RuleDocument.partial();

/** The parts of a wrong document that fit the schema, so that what is wrong beyond its shape is reported too. */
function readableParts(input: unknown): ScenarioDocument {
  const rules = (input as { rules?: unknown } | null)?.rules;
  const readable = (rule: unknown, index: number): RuleDocument => {
    const { name, effect, ...rest } = PartialRule.parse(prunedParts(RuleDocument, rule));
    return { ...rest, name: name ?? `unreadable-${index}`, effect: effect ?? {} };
  };
  const { rules: _rules, ...rest } = prunedParts(ScenarioDocument, input);
  return { ...ScenarioDocument.parse(rest), rules: Array.isArray(rules) ? rules.map(readable) : [] };
}

let magicRules: readonly Rule[] | undefined;

/** The rules of the magic beneficiaries, read at their first use. They are the same with all settings. */
const shippedMagic = (settings: ScenarioSettings): readonly Rule[] =>
  (magicRules ??= readScenario(join(SHIPPED, 'magic.yaml'), { ...settings, isMagic: false }).rules);

/**
 * Makes a scenario of what was read.
 *
 * @param file where it comes from, for the messages
 * @throws ScenarioError with what is wrong with it
 */
function scenarioOf(
  { value, input, problems, problemAt }: TextRead<ScenarioDocument>,
  file: string,
  settings: ScenarioSettings,
): Scenario {
  // nothing else would be reported: the rest of a document with this many problems is not worth reading
  if (reported(problems).more > 0) refuseProblems(file, problems);
  const document = value ?? readableParts(input);
  const { scenario, issues } = compileScenario(document, {
    name: nameOf(file),
    source: input,
    settings,
    lastRules: () => (settings.isMagic ? shippedMagic(settings) : []),
    dialects: shippedDialects,
  });
  refuseProblems(file, [...problems, ...issues.map(({ path, message }) => problemAt(path, message))]);
  return scenario;
}

function refuseProblems(file: string, problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const inOrder = problems.toSorted(
    ({ place: a }, { place: b }) => (a && b && (a.line - b.line || a.column - b.column)) || 0,
  );
  const { shown, more } = reported(inOrder);
  const lines = shown.map((problem) => problemText(file, problem));
  if (more > 0) lines.push(`${file}: and ${more} more`);
  throw new ScenarioError(lines, shown, more);
}

/**
 * Compiles a rule on top of a world.
 *
 * @param sizeBeside the size of the patterns of the other rules on top of the same world
 * @throws ScenarioError with what is wrong with it
 */
export function ruleOf(document: unknown, sizeBeside = 0): Rule {
  const { value, problems, problemAt } = readValue(document, RuleDocument);
  if (value === null) refuseProblems('rule', problems);
  const size = sizeBeside + matchPatternSize(value!.match ?? {});
  if (size > MAX_OVERRIDE_PATTERN_SIZE) {
    const message = tooLarge('the rules on top of this world', size, MAX_OVERRIDE_PATTERN_SIZE);
    refuseProblems('rule', [problemAt(['match'], message)]);
  }
  const found: Problem[] = [];
  const report: Report = (path, message) => void found.push(problemAt(path, message));
  const rule = compileRule(value!, document, 'world', [], report);
  refuseProblems('rule', found);
  return rule;
}

/** Compiles all rules on top of a world. @throws ScenarioError with what is wrong with the first wrong one */
export function rulesOf(documents: readonly unknown[]): readonly Rule[] {
  let size = 0;
  return documents.map((document) => {
    const rule = ruleOf(document, size);
    size += rule.patternSize;
    return rule;
  });
}

/** Reads a scenario file. @throws ScenarioError with what is wrong with it */
export function readScenario(file: string, settings: ScenarioSettings): Scenario {
  if (OUR_NAMES.has(nameOf(file)) && !file.startsWith(SHIPPED)) {
    throw new ScenarioError([
      `${file} must have another name: the rules of the sandbox use the name ${nameOf(file)}`,
    ]);
  }
  if (!NAME.test(nameOf(file))) {
    throw new ScenarioError([
      `${file} must have a name of letters, digits, dots, hyphens and underscores, at most 64 characters, since headers contain it`,
    ]);
  }
  return scenarioOf(readText(textOf(file), ScenarioDocument), file, settings);
}

/**
 * Makes a scenario of a document, of which it keeps a copy.
 *
 * @param name the name of the scenario, also for the messages
 * @throws ScenarioError with what is wrong with it
 */
export function documentScenario(document: unknown, name: string, settings: ScenarioSettings): Scenario {
  const copy: unknown = JSON.parse(JSON.stringify(document));
  return scenarioOf(readValue(copy, ScenarioDocument), name, settings);
}
