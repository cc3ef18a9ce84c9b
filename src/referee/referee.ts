import type { ConductReports, RefereeSettings, WorldReport } from '../contract/conduct.ts';
import type { Evidence } from './case.ts';
import { judge, mergedReport, withFewFindings } from './judge.ts';
import { reportsOf } from './reports/summary.ts';

/** Findings of each check that a kept verdict and a report on all worlds have; the others are counted. */
const FEW_FINDINGS = 5;

const nameOf = (worldId: string): string => worldId.slice(0, 8);

/** Texts by name, which servers may share. Called again where another server was quicker, `change` makes the new text of the one before. */
interface Notes {
  get(name: string): Promise<string | null>;
  all(): Promise<ReadonlyMap<string, string>>;
  change(name: string, change: (before: string | null) => string | null): Promise<void>;
}

interface RefereeNotes {
  /** What it was told about single worlds, by their ids: settings as JSON. */
  readonly told: Notes;
  /** What holds for every other world, once somebody has asked for all worlds. */
  readonly toldOfAll: Notes;
  /** The verdicts on what worlds have lost, by their ids: reports as JSON. */
  readonly kept: Notes;
}

const ALL = 'all';

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

/** What is known of the conduct of clients: what somebody told about them, and the verdicts on what worlds have lost. */
export class Referee {
  readonly #notes: RefereeNotes;

  constructor(notes: RefereeNotes) {
    this.#notes = notes;
  }

  /** The verdict begins anew, so that a world which was reset can pass. Not where somebody asks for all worlds: they want all of it. */
  async tell(worldId: string, settings: RefereeSettings): Promise<void> {
    await this.#notes.told.change(worldId, () => JSON.stringify(settings));
    await this.#forgetVerdict(worldId);
  }

  /** From now on the verdicts on all worlds are kept. */
  tellOfAll(settings: RefereeSettings): Promise<void> {
    return this.#notes.toldOfAll.change(ALL, () => JSON.stringify(settings));
  }

  async settingsOf(worldId: string): Promise<RefereeSettings> {
    return (await this.settingsToKeep(worldId)) ?? {};
  }

  /** By what to judge a world that is about to lose its journal; null where nobody wants to know the verdict. */
  async settingsToKeep(worldId: string): Promise<RefereeSettings | null> {
    const { told, toldOfAll } = this.#notes;
    const [ofWorld, ofAll] = await Promise.all([told.get(worldId), toldOfAll.get(ALL)]);
    return parsed(ofWorld ?? ofAll) as RefereeSettings | null;
  }

  /** Judges what a world is about to lose. @param isOver false where its payouts go on, so that what is expected may still come */
  keep(worldId: string, evidence: Evidence, settings: RefereeSettings, isOver: boolean): Promise<void> {
    const { expect: _later, ...others } = settings;
    const report = judge(nameOf(worldId), evidence, isOver ? settings : others);
    return this.#notes.kept.change(worldId, (before) => {
      const kept = parsed(before) as WorldReport | null;
      const both = kept === null ? report : mergedReport(kept, report);
      return JSON.stringify(withFewFindings(both, FEW_FINDINGS));
    });
  }

  /** The report on a world: what it lost, and what it has. */
  async report(worldId: string, evidence: Evidence, settings: RefereeSettings): Promise<WorldReport> {
    const kept = parsed(await this.#notes.kept.get(worldId)) as WorldReport | null;
    const report = judge(nameOf(worldId), evidence, settings);
    return kept === null ? report : mergedReport(kept, report);
  }

  /** The same with few findings of each check; null for a world to which no request came. */
  async shortReport(
    worldId: string,
    evidence: Evidence,
    settings: RefereeSettings,
  ): Promise<WorldReport | null> {
    const wasAsked = evidence.requests.length > 0 || evidence.evicted > 0;
    return wasAsked ? withFewFindings(await this.report(worldId, evidence, settings), FEW_FINDINGS) : null;
  }

  /**
   * The reports on all worlds, also on those that are gone, in the order of their ids.
   *
   * @param living the reports on the worlds that there are, with few findings of each check
   */
  async reports(living: ReadonlyMap<string, WorldReport>): Promise<ConductReports> {
    const reports = new Map<string, WorldReport>();
    for (const [worldId, text] of await this.#notes.kept.all()) {
      reports.set(worldId, JSON.parse(text) as WorldReport);
    }
    for (const [worldId, report] of living) reports.set(worldId, report);
    return reportsOf([...reports].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report));
  }

  /** Forgets a world that is gone, but for its verdict where somebody asks for all worlds. */
  async forget(worldId: string): Promise<void> {
    await this.#notes.told.change(worldId, () => null);
    await this.#forgetVerdict(worldId);
  }

  async #forgetVerdict(worldId: string): Promise<void> {
    const { toldOfAll, kept } = this.#notes;
    if ((await toldOfAll.get(ALL)) === null) await kept.change(worldId, () => null);
  }
}
