import type { RateLimit, ScenarioSettings, ScenarioSource } from '../contract/snapshot.ts';
import { existsSync, readdirSync, realpathSync, watch, type FSWatcher } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ScenarioInput } from '../contract/control.ts';
import { LRUCache } from 'lru-cache';
import { startAt } from '../payout/settlement.ts';
import type { Scenario, ScenarioCompiler } from './scenario.ts';
import { toPaise } from '../payout/money.ts';
import {
  BASE,
  checkScenario,
  documentScenario,
  filesIn,
  sameNameText,
  isScenarioFile,
  nameOf,
  readDialect,
  readScenario,
  rulesOf,
  ScenarioError,
  scenarioText,
  SHIPPED,
  unknownChoice,
} from './scenario-file.ts';
import { reported } from '../contract/shape-issues.ts';
import { systemReason } from '../contract/usage-error.ts';
import { readText } from './scenario-text.ts';

/** The settings of the server that concern scenarios. */
interface ServerSettings extends Pick<ScenarioSettings, 'seed' | 'settlement'> {
  /** INR. */
  readonly openingBalance: number;
  /** ms since the epoch; null for wall time. */
  readonly clock: number | null;
  /** By default 1 at wall time, and else 0. */
  readonly clockSpeed?: number | undefined;
  readonly rateLimit: RateLimit | 'off';
  readonly magic: 'on' | 'off';
  /** The name of a dialect, or a file. */
  readonly dialect?: string | undefined;
}

/** The settings that apply where a scenario sets nothing itself, in the order of their schema. @throws ScenarioError for a dialect that cannot be used */
export const scenarioSettings = (given: ServerSettings): ScenarioSettings => ({
  openingBalancePaise: toPaise(given.openingBalance),
  seed: given.seed,
  clock: startAt(given.clock, given.clockSpeed),
  settlement: given.settlement,
  ...(given.dialect !== undefined && { dialect: readDialect(given.dialect) }),
  rateLimit: given.rateLimit,
  isMagic: given.magic === 'on',
});

export interface LibraryObserver {
  readonly reloaded: (file: string) => void;
  /** Called for a changed file that cannot be used; its last good version stays active. */
  readonly refused: (lines: readonly string[]) => void;
  /** Called once for a folder whose changes the system does not report. */
  readonly unwatched: (folder: string, reason: string) => void;
}

export interface LibraryOptions extends Partial<LibraryObserver> {
  readonly settings: ScenarioSettings;
  /** The scenario of every world that has not chosen one: a name, a file, or a document. */
  readonly active: string | ScenarioInput | undefined;
  /** A folder of the user's own scenarios, in addition to those that ship. */
  readonly folder: string | undefined;
}

/** How many compiled scenarios that came as data are kept for other worlds. */
const MAX_CACHED = 100;
/** Changed files are read when their folder has not changed for this long. */
const SETTLED_MS = 50;
const BASE_DOCUMENT: ScenarioInput = { description: 'No rules: uses the settings as they are' };
/** The name of a scenario that was given as a document. */
const INLINE = 'inline';

/** The problems of a file. @throws any other error */
function linesOf(error: unknown): readonly string[] {
  if (!(error instanceof ScenarioError)) throw error;
  return error.lines;
}

/** What a path leads to once links are followed; itself if it leads nowhere. */
function targetOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** The scenario files of a folder; none of one that is gone, or that cannot be read. */
function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter(isScenarioFile)
      .map((entry) => join(folder, entry));
  } catch {
    return [];
  }
}

/** All scenarios that a world or a request can choose: those that ship, the user's, and the active one. */
export class ScenarioLibrary implements ScenarioCompiler {
  readonly #files: Map<string, string>;
  readonly #read = new Map<string, Scenario>();
  /** Compiled scenarios by their sources, and by the text of sources that came as data. */
  readonly #bySource = new WeakMap<ScenarioSource, Scenario>();
  readonly #byText = new LRUCache<string, Scenario>({ max: MAX_CACHED });
  /** The scenario of every world that has not chosen one. A reload of its file replaces it. */
  active: Scenario;
  /** The scenario that changes none of the settings, in the default dialect. */
  base: Scenario;
  readonly #options: LibraryOptions;
  /** The text of each file that was read, whether it could be used or not. */
  readonly #texts = new Map<string, string>();
  readonly #watchers: FSWatcher[] = [];
  /** The folders that cannot be watched. */
  readonly #unwatched = new Set<string>();
  /** What is wrong with the files that cannot be used. */
  readonly #problems = new Map<string, readonly string[]>();
  #settled: NodeJS.Timeout | undefined;
  readonly rules = rulesOf;

  /** @throws ScenarioError when a file of the user cannot be used */
  constructor(options: LibraryOptions) {
    this.#options = options;
    this.#files = filesIn(join(SHIPPED, 'scenarios'));
    this.base = this.#keep(documentScenario(BASE_DOCUMENT, BASE, options.settings));
    this.active = this.base;
    this.#loadFolder();
    this.active = this.#loadActive(options.active);
  }

  get names(): readonly string[] {
    return [BASE, ...this.#files.keys()].toSorted();
  }

  /** A scenario by its name, or undefined when there is none. Those that ship are read at their first use. */
  get(name: string): Scenario | undefined {
    const read = this.#read.get(name);
    if (read !== undefined) return read;
    const file = this.#files.get(name);
    return file === undefined ? undefined : this.#load(file);
  }

  /** Every scenario that can be chosen by name, one by one. Reads those that have not been used yet. */
  *all(): Generator<Scenario> {
    for (const name of this.names) yield this.get(name)!;
  }

  scenario(source: ScenarioSource): Scenario {
    const known = this.#bySource.get(source);
    if (known !== undefined) return known;
    const { document, name, settings } = source;
    const sameText = this.#byText.get(JSON.stringify(source));
    return this.#keepSource(source, sameText ?? documentScenario(document, `${name}.json`, settings));
  }

  /** Makes a scenario of a document, which the library does not keep. @throws ScenarioError */
  compile(document: unknown, name = INLINE): Scenario {
    const scenario = documentScenario(document, name, this.#options.settings);
    return this.#keepSource(scenario.source, scenario);
  }

  /** Checks the text of a scenario, which the library does not keep. With problems, its document is null. */
  check(text: string) {
    try {
      const { document, warnings } = checkScenario(readText(text), 'scenario', this.#options.settings);
      return { document, problems: [], more: 0, warnings: reported(warnings).shown };
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      const { problems, more } = error;
      return { document: null, problems, more, warnings: [] };
    }
  }

  /**
   * Watches the folders of the user's files, and of what these are links to. A watcher stays with a folder that was moved or removed,
   * whatever takes its place, so each reading begins with new ones.
   */
  watch(): void {
    const files = this.#ownFiles();
    const folders = new Set([...files, ...files.map(targetOf)].map(dirname));
    if (this.#options.folder !== undefined) folders.add(resolve(this.#options.folder));
    this.close();
    for (const folder of folders) this.#watchFolder(folder);
  }

  #watchFolder(folder: string): void {
    const lost = (error: unknown): void => {
      if (this.#unwatched.has(folder)) return;
      this.#unwatched.add(folder);
      const { code } = error as NodeJS.ErrnoException;
      const reason = code === 'ENOSPC' ? 'the system allows no more watchers' : systemReason(error);
      this.#options.unwatched?.(folder, reason);
    };
    try {
      const watcher = watch(folder, { persistent: false }, () => {
        clearTimeout(this.#settled); // editors often empty a file before they write it
        this.#settled = setTimeout(() => this.reload(), SETTLED_MS).unref();
      });
      this.#watchers.push(watcher.on('error', lost));
      this.#unwatched.delete(folder);
    } catch (error) {
      lost(error);
    }
  }

  close(): void {
    clearTimeout(this.#settled);
    for (const watcher of this.#watchers.splice(0)) watcher.close();
  }

  /** Reads again what has changed of the user's files. @returns these files, and what is wrong with all that cannot be used */
  reload(): { readonly reloaded: string[]; readonly problems: string[] } {
    this.watch();
    const reloaded: string[] = [];
    const files = this.#ownFiles().filter((file) => existsSync(file));
    for (const file of files) {
      try {
        if (!this.#readAgain(file)) continue;
        this.#problems.delete(file);
        reloaded.push(file);
        this.#options.reloaded?.(file);
      } catch (error) {
        const lines = linesOf(error);
        this.#problems.set(file, lines);
        this.#options.refused?.(lines);
      }
    }
    return { reloaded, problems: files.flatMap((file) => this.#problems.get(file) ?? []) };
  }

  /** The user's files: those in use, and those of the folder. */
  #ownFiles(): readonly string[] {
    const { folder } = this.#options;
    const there = folder === undefined ? [] : filesOf(resolve(folder));
    const own = [...this.#files.values()].filter((file) => !file.startsWith(SHIPPED));
    return [...new Set([...own, ...there])];
  }

  #keepSource(source: ScenarioSource, scenario: Scenario): Scenario {
    this.#bySource.set(source, scenario);
    this.#byText.set(JSON.stringify(source), scenario);
    return scenario;
  }

  #load(file: string, text = scenarioText(file)): Scenario {
    this.#texts.set(file, text);
    return this.#keep(readScenario(file, text, this.#options.settings));
  }

  /** @returns whether it has changed @throws ScenarioError; then its last good version stays */
  #readAgain(file: string): boolean {
    const name = nameOf(file);
    const known = this.#files.get(name);
    const text = scenarioText(file);
    if (text === this.#texts.get(file)) return false;
    this.#texts.set(file, text);
    if (known !== undefined && known !== file && !known.startsWith(SHIPPED) && existsSync(known))
      throw new ScenarioError([sameNameText(file, known)]);
    this.#load(file, text);
    this.#files.set(name, file);
    return true;
  }

  /** Reads all of the user's folder, so that errors in it are reported at the start. */
  #loadFolder(): void {
    if (this.#options.folder === undefined) return;
    const lines: string[] = [];
    for (const [name, file] of filesIn(resolve(this.#options.folder))) {
      this.#files.set(name, file);
      try {
        this.#load(file);
      } catch (error) {
        lines.push(...linesOf(error));
      }
    }
    if (lines.length > 0) throw new ScenarioError(lines);
  }

  #loadActive(choice: LibraryOptions['active']): Scenario {
    if (choice === undefined) return this.base;
    if (typeof choice === 'object') return this.#keep(this.compile(choice));
    if (isScenarioFile(choice)) {
      const file = resolve(choice);
      this.#files.set(nameOf(file), file);
      return this.#load(file);
    }
    const named = this.get(choice);
    if (named !== undefined) return named;
    const known = `one of the ${this.names.length} that payout-sandbox scenarios lists`;
    throw unknownChoice('scenario', choice, this.names, known);
  }

  /** Keeps a scenario under its name. */
  #keep(scenario: Scenario): Scenario {
    this.#read.set(scenario.name, scenario);
    if (scenario.name === BASE) this.base = scenario;
    if (scenario.name === this.active?.name) this.active = scenario;
    this.#bySource.set(scenario.source, scenario);
    return scenario;
  }
}
