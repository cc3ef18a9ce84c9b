import { existsSync, readdirSync, watch, type FSWatcher } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { ScenarioInput } from '../contract/control.ts';
import { LRUCache } from 'lru-cache';
import type { RateLimit } from './rate-limit.ts';
import type { ScenarioSettings, ScenarioSource, Scenario, ScenarioCompiler } from './scenario.ts';
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
  SHIPPED,
  unknownChoice,
} from './scenario-file.ts';
import { reported } from '../contract/shape-issues.ts';
import { readText } from './scenario-text.ts';

/** The settings of the server that concern scenarios. */
interface ServerSettings extends Pick<ScenarioSettings, 'seed' | 'settlement'> {
  /** INR. */
  readonly openingBalance: number;
  readonly clock: { readonly frozenAtMs: number } | 'running';
  readonly rateLimit: RateLimit | 'off';
  readonly magic: 'on' | 'off';
  /** The name of a dialect, or a file. */
  readonly dialect?: string | undefined;
}

/** The settings that apply where a scenario sets nothing itself, in the order of their schema. @throws ScenarioError for a dialect that cannot be used */
export const scenarioSettings = (given: ServerSettings): ScenarioSettings => ({
  openingBalancePaise: toPaise(given.openingBalance),
  seed: given.seed,
  clock: given.clock === 'running' ? { frozenAtMs: null, aheadMs: 0 } : given.clock,
  settlement: given.settlement,
  ...(given.dialect !== undefined && { dialect: readDialect(given.dialect) }),
  rateLimit: given.rateLimit,
  isMagic: given.magic === 'on',
});

export interface LibraryOptions {
  readonly settings: ScenarioSettings;
  /** The scenario of every world that has not chosen one: a name, a file, or a document. */
  readonly active: string | ScenarioInput | undefined;
  /** A folder of the user's own scenarios, in addition to those that ship. */
  readonly folder: string | undefined;
  readonly reloaded: (file: string) => void;
  /** Called for a changed file that cannot be used; its last good version stays active. */
  readonly refused: (lines: readonly string[]) => void;
}

/** How many compiled scenarios that came as data are kept for other worlds. */
const MAX_CACHED = 100;
/** A changed file is read when it has not changed for this long. */
const SETTLED_MS = 50;
/** What Kubernetes replaces when a ConfigMap changes: the files of its folder are links through it, which stay as they are. */
const CONFIG_MAP = '..data';
const BASE_DOCUMENT: ScenarioInput = { description: 'No rules: uses the settings as they are' };
/** The name of a scenario that was given as a document. */
const INLINE = 'inline';

/** The problems of a file. @throws any other error */
function linesOf(error: unknown): readonly string[] {
  if (!(error instanceof ScenarioError)) throw error;
  return error.lines;
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
  readonly #watchers: FSWatcher[] = [];
  /** Files and folders that have changed, until they are read. */
  readonly #changed = new Map<string, NodeJS.Timeout>();
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
  compile(document: unknown): Scenario {
    const scenario = documentScenario(document, INLINE, this.#options.settings);
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

  /** Watches the user's files and reads them again when they change. */
  watch(): void {
    const own = new Set([...this.#files.values()].filter((file) => !file.startsWith(SHIPPED)).map(dirname));
    if (this.#options.folder !== undefined) own.add(resolve(this.#options.folder));
    for (const folder of own) this.#watchFolder(folder);
  }

  #watchFolder(folder: string): void {
    const watcher = watch(folder, { persistent: false }, (event, entry) => {
      const isReplaced = entry === CONFIG_MAP || (entry === basename(folder) && event === 'rename');
      if (isReplaced) {
        watcher.close(); // it stays with a folder that was moved or removed, whatever takes its place
        this.#soon(folder, () => this.#watchAgain(folder));
      } else if (entry !== null && isScenarioFile(entry)) this.#reloadSoon(join(folder, entry));
    });
    watcher.on('error', ({ message }) => this.#lost(folder, message));
    this.#watchers.push(watcher);
  }

  #watchAgain(folder: string): void {
    try {
      this.#watchFolder(folder);
      for (const entry of readdirSync(folder))
        if (isScenarioFile(entry)) this.#reloadSoon(join(folder, entry));
    } catch {
      this.#lost(folder, 'it was moved or removed. Restart the sandbox when it is there again');
    }
  }

  #lost(folder: string, reason: string): void {
    this.#options.refused([`${folder} is no longer watched: ${reason}`]);
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
    for (const timer of this.#changed.values()) clearTimeout(timer);
  }

  #keepSource(source: ScenarioSource, scenario: Scenario): Scenario {
    this.#bySource.set(source, scenario);
    this.#byText.set(JSON.stringify(source), scenario);
    return scenario;
  }

  #load(file: string): Scenario {
    return this.#keep(readScenario(file, this.#options.settings));
  }

  #reloadSoon(file: string): void {
    this.#soon(file, () => this.#reload(file));
  }

  /** Editors often empty a file before they write it, so it is read when it has stopped changing. */
  #soon(path: string, callback: () => void): void {
    clearTimeout(this.#changed.get(path));
    const settled = (): void => {
      this.#changed.delete(path);
      callback();
    };
    this.#changed.set(path, setTimeout(settled, SETTLED_MS).unref());
  }

  #reload(file: string): void {
    const name = nameOf(file);
    const known = this.#files.get(name);
    const { folder } = this.#options;
    const isInFolder = folder !== undefined && dirname(file) === resolve(folder);
    if (known !== file && !isInFolder) return; // a file that is not one of the user's scenarios
    const isFree = known === undefined || known === file || known.startsWith(SHIPPED) || !existsSync(known);
    if (!isFree) return existsSync(file) ? this.#options.refused([sameNameText(file, known)]) : undefined;
    try {
      this.#load(file);
    } catch (error) {
      return this.#options.refused(linesOf(error));
    }
    this.#files.set(name, file);
    this.#options.reloaded(file);
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
    if (named === undefined) throw unknownChoice('scenario', choice, this.names);
    return named;
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
