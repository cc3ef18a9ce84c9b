import type { ConductReports, RefereeSettings, WorldReport } from '../contract/conduct.ts';
import type { Evidence } from './case.ts';
import { judge, mergedReport, withFewFindings } from './judge.ts';
import { reportsOf } from './reports/summary.ts';

/** The worlds whose verdicts are kept after they lost their journal: one more drops the oldest. */
const MOST_KEPT = 1000;
/** Findings of each check that a kept verdict and a report on all worlds have; the others are counted. */
const FEW_FINDINGS = 5;
/** What may be told about single worlds, as JSON: more drops what was told first. */
const MOST_TOLD_CHARACTERS = 16 * 1024 * 1024;

const nameOf = (worldId: string): string => worldId.slice(0, 8);

/** What one server knows of the conduct of its clients: what it was told, and the verdicts on what worlds have lost. */
export class Referee {
  /** What it was told about single worlds. */
  readonly #told = new Map<string, { readonly settings: RefereeSettings; readonly characters: number }>();
  #toldCharacters = 0;
  /** What holds for every other world; null until somebody asks for all worlds. */
  #ofAll: RefereeSettings | null = null;
  readonly #kept = new Map<string, WorldReport>();

  tell(worldId: string, settings: RefereeSettings): void {
    this.#dropWhatWasTold(worldId);
    const { length: characters } = JSON.stringify(settings);
    this.#told.set(worldId, { settings, characters });
    this.#toldCharacters += characters;
    for (const oldest of this.#told.keys()) {
      if (this.#toldCharacters <= MOST_TOLD_CHARACTERS) break;
      this.#dropWhatWasTold(oldest);
    }
  }

  /** From now on the verdicts on all worlds are kept. */
  tellOfAll(settings: RefereeSettings): void {
    this.#ofAll = settings;
  }

  settingsOf(worldId: string): RefereeSettings {
    return this.#told.get(worldId)?.settings ?? this.#ofAll ?? {};
  }

  /** Whether the verdict on a world is kept when its journal is lost: somebody wants to know it. */
  keeps(worldId: string): boolean {
    return this.#ofAll !== null || this.#told.has(worldId);
  }

  /** Judges what a world is about to lose. @param isOver false where its payouts go on, so that what is expected may still come */
  keep(worldId: string, evidence: Evidence, isOver: boolean): void {
    const { expect, ...others } = this.settingsOf(worldId);
    const settings = expect === undefined || !isOver ? others : { ...others, expect };
    const kept = this.#kept.get(worldId);
    const report = judge(nameOf(worldId), evidence, settings);
    this.#kept.delete(worldId); // the latest come last
    this.#kept.set(
      worldId,
      withFewFindings(kept === undefined ? report : mergedReport(kept, report), FEW_FINDINGS),
    );
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(oldest!);
  }

  /** The report on a world: what it lost, and what it has. */
  report(worldId: string, evidence: Evidence): WorldReport {
    const report = judge(nameOf(worldId), evidence, this.settingsOf(worldId));
    const kept = this.#kept.get(worldId);
    return kept === undefined ? report : mergedReport(kept, report);
  }

  /** The same with few findings of each check; null for a world to which no request came. */
  shortReport(worldId: string, evidence: Evidence): WorldReport | null {
    const wasAsked = evidence.requests.length > 0 || evidence.evicted > 0;
    return wasAsked ? withFewFindings(this.report(worldId, evidence), FEW_FINDINGS) : null;
  }

  /**
   * The reports on all worlds, also on those that are gone, in the order of their ids.
   *
   * @param living the reports on the worlds that there are, with few findings of each check
   */
  reports(living: ReadonlyMap<string, WorldReport>): ConductReports {
    const reports = new Map([...this.#kept, ...living]);
    return reportsOf([...reports].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report));
  }

  /** Forgets a world that is gone, but for its verdict where somebody asks for all worlds. */
  forget(worldId: string): void {
    this.#dropWhatWasTold(worldId);
    if (this.#ofAll === null) this.#kept.delete(worldId);
  }

  #dropWhatWasTold(worldId: string): void {
    this.#toldCharacters -= this.#told.get(worldId)?.characters ?? 0;
    this.#told.delete(worldId);
  }
}
