import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { changedDialect, DEFAULT_DIALECT, type Dialect, type DialectChange } from '../contract/dialect.ts';
import { OutcomeDocument, RuleDocument, ScenarioDocument } from '../contract/scenario-document.ts';
import { reported } from '../contract/shape-issues.ts';
import type { ScenarioSettings } from '../contract/snapshot-lines.ts';
import { compileScenario, type Scenario } from './scenario.ts';
import type { Rule } from './rule.ts';
import { compileRule } from './rule-compiler.ts';
import { packageFile } from '../package-files.ts';
import { matchPatternSize, MAX_OVERRIDE_PATTERN_SIZE, tooLarge } from './pattern.ts';
import { problemText, READ_ONCE, readText, readValue, type Problem, type TextRead } from './scenario-text.ts';

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

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const isFolder = (error as NodeJS.ErrnoException).code === 'EISDIR';
    throw new ScenarioError([`${file} ${isFolder ? 'is a folder, not a file' : 'cannot be read'}`]);
  }
}

/** @throws ScenarioError for a file that is not text: replacing its broken bytes would change what it says */
function textOf(file: string): string {
  const bytes = bytesOf(file);
  try {
    if (!bytes.includes(0)) return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // not UTF-8
  }
  throw new ScenarioError([`${file} is not a text file: it must be YAML or JSON in UTF-8`]);
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

/** A schema for a document of another that does not fit: it leaves out the optional parts that are wrong. */
function lenient(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) {
    const part = lenient(schema.unwrap() as z.ZodType);
    return part.optional().catch(undefined);
  }
  if (schema instanceof z.ZodUnion)
    return z.union((schema.options as readonly z.ZodType[]).map((option) => lenient(option)));
  if (!(schema instanceof z.ZodObject)) return schema;
  const parts = Object.entries(schema.shape).map(([key, part]) => [key, lenient(part as z.ZodType)] as const);
  return z.object(Object.fromEntries(parts));
}

/** The parts of a wrong document that fit the schema, so that what is wrong beyond its shape is reported too. */
function readableParts(input: unknown): ScenarioDocument {
  const rule = lenient(RuleDocument.partial()).catch({});
  const outcome = lenient(OutcomeDocument).catch({});
  const lists = { outcomes: z.array(outcome).optional(), rules: z.array(rule).optional() };
  const document = lenient(ScenarioDocument.extend(lists)).catch({});
  const { rules, ...rest } = document.parse(input, READ_ONCE) as Omit<ScenarioDocument, 'rules'> & {
    readonly rules?: readonly Partial<RuleDocument>[];
  };
  const named = (one: Partial<RuleDocument>, index: number): RuleDocument => ({
    ...one,
    name: one.name ?? `unreadable-${index}`,
    effect: one.effect ?? {},
  });
  return { ...rest, rules: rules?.map(named) };
}

let magic: Scenario | undefined;

/** What the magic beneficiaries do, read at their first use. It is the same with all settings. */
const shippedMagic = (settings: ScenarioSettings): Scenario =>
  (magic ??= readScenario(join(SHIPPED, 'magic.yaml'), { ...settings, isMagic: false }));

/** Makes a scenario of what was read. @throws ScenarioError with what is wrong with it */
function scenarioOf(
  { value, input, problems, problemAt }: TextRead<ScenarioDocument>,
  file: string,
  settings: ScenarioSettings,
): Scenario {
  // nothing else would be reported: the rest of a document with this many problems is not worth reading
  if (reported(problems).more > 0) throw refusal(file, problems);
  const document = value ?? readableParts(input);
  const found = [...problems];
  const options = {
    name: nameOf(file),
    source: input,
    settings,
    last: () => (settings.isMagic ? shippedMagic(settings) : { outcomes: [], rules: [] }),
    dialects: shippedDialects,
  };
  const scenario = compileScenario(document, options, (path, message) =>
    found.push(problemAt(path, message)),
  );
  if (found.length > 0) throw refusal(file, found);
  return scenario;
}

/** What a file or document with problems is refused with. */
function refusal(file: string, problems: readonly Problem[]): ScenarioError {
  const inOrder = problems.toSorted(
    ({ place: a }, { place: b }) => (a && b && (a.line - b.line || a.column - b.column)) || 0,
  );
  const { shown, more } = reported(inOrder);
  const lines = shown.map((problem) => problemText(file, problem));
  if (more > 0) lines.push(`${file}: and ${more} more`);
  return new ScenarioError(lines, shown, more);
}

/** Compiles all rules on top of a world. @throws ScenarioError with what is wrong with the first wrong one */
export function rulesOf(documents: readonly unknown[]): readonly Rule[] {
  let size = 0;
  return documents.map((source) => {
    const { value: document, problems, problemAt } = readValue(source, RuleDocument);
    if (document === null) throw refusal('rule', problems);
    size += matchPatternSize(document.match ?? {});
    if (size > MAX_OVERRIDE_PATTERN_SIZE) {
      const message = tooLarge('the rules on top of this world', size, MAX_OVERRIDE_PATTERN_SIZE);
      throw refusal('rule', [problemAt(['match'], message)]);
    }
    const found: Problem[] = [];
    const rule = compileRule(document, source, 'world', (path, message) =>
      found.push(problemAt(path, message)),
    );
    if (found.length > 0) throw refusal('rule', found);
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

/** Makes a scenario of a copy of a document. @throws ScenarioError with what is wrong with it */
export function documentScenario(document: unknown, name: string, settings: ScenarioSettings): Scenario {
  const copy: unknown = JSON.parse(JSON.stringify(document));
  return scenarioOf(readValue(copy, ScenarioDocument), name, settings);
}
