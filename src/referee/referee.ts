import type { ConductReports, RefereeSettings, WorldReport } from '../contract/conduct.ts';
import type { Evidence } from './case.ts';
import { judge, withFewFindings } from './judge.ts';
import {
  earlierParts,
  FEW_FINDINGS,
  idsOf,
  isOver,
  isThere,
  partOf,
  partsIn,
  sinceReset,
  together,
  type Loss,
  type Part,
} from './kept-verdict.ts';
import { reportsOf } from './reports/summary.ts';

/** What a report calls a world without a name of its own. */
const shortId = (worldId: string): string => worldId.slice(0, 8);

/** Texts by name, which servers may share. `change` makes the new text from the old one; it is called again when another server was quicker. */
interface Notes {
  get(name: string): string | null | Promise<string | null>;
  all(): Promise<ReadonlyMap<string, string>>;
  change(name: string, change: (before: string | null) => string | null): Promise<void>;
}

interface RefereeNotes {
  /** The settings for single worlds, by their ids, as JSON. */
  readonly settings: Notes;
  /** The settings for every other world, once they were set for all worlds. */
  readonly settingsOfAll: Notes;
  /** The verdicts on journals that worlds have lost, by their ids: a list of `Part` as JSON. */
  readonly kept: Notes;
}

const ALL = 'all';

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

const wasAsked = ({ requests, evicted, ledger }: Evidence): boolean =>
  requests.length > 0 || evicted > 0 || (ledger.forgotten ?? 0) > 0;

/** Whether the table of expected payouts was compared with what a world lost, and nothing has happened in that world since. */
const isComparedAndUntouched = ({ checks }: WorldReport, evidence: Evidence): boolean =>
  checks.some(({ id, verdict }) => id === 'expectation-missed' && verdict !== 'not_exercised') &&
  !wasAsked(evidence) &&
  evidence.ledger.payouts.length === 0;

/** The settings of the referee, and its verdicts on journals that worlds have lost. */
export class Referee {
  readonly #notes: RefereeNotes;

  constructor(notes: RefereeNotes) {
    this.#notes = notes;
  }

  /**
   * Leaves out what was found before the last reset, so that a world that was reset can pass; unless there are settings for all worlds,
   * which ask for the whole verdict.
   *
   * @param now what the world has
   */
  async configure(worldId: string, settings: RefereeSettings, now: Evidence): Promise<void> {
    await this.#notes.settings.change(worldId, () => JSON.stringify(settings));
    await this.#keepOnly(worldId, (parts) => sinceReset(parts, now));
  }

  /** From now on the verdicts on all worlds are kept. */
  configureAll(settings: RefereeSettings): Promise<void> {
    return this.#notes.settingsOfAll.change(ALL, () => JSON.stringify(settings));
  }

  async settingsOf(worldId: string): Promise<RefereeSettings> {
    return (await this.settingsToKeep(worldId)) ?? {};
  }

  /** The settings to judge a world by that is about to lose its journal; null when nobody wants the verdict. */
  async settingsToKeep(worldId: string): Promise<RefereeSettings | null> {
    const { settings, settingsOfAll } = this.#notes;
    const [ofWorld, ofAll] = await Promise.all([settings.get(worldId), settingsOfAll.get(ALL)]);
    return parsed(ofWorld ?? ofAll) as RefereeSettings | null;
  }

  /**
   * Keeps the verdict on the journal that a world has lost, if it has lost any of it.
   *
   * @param after what the world has since; null for nothing
   */
  async keep(
    worldId: string,
    evidence: Evidence,
    settings: RefereeSettings,
    loss: Loss,
    after: Evidence | null = null,
  ): Promise<void> {
    if (isThere(evidence.requests.at(-1)?.request_id, idsOf(after?.requests ?? []))) return;
    const report = judge(shortId(worldId), { ...evidence, expectsMore: !isOver(loss) }, settings);
    const part = partOf(report, evidence.requests, loss, after);
    return this.#notes.kept.change(worldId, (before) =>
      JSON.stringify([...earlierParts(partsIn(before), evidence), part]),
    );
  }

  /** The report on a world: on the journals that it lost, and on the one that it has. */
  async report(worldId: string, evidence: Evidence, settings: RefereeSettings): Promise<WorldReport> {
    const parts = partsIn(await this.#notes.kept.get(worldId));
    const kept = together(parts, evidence, null);
    if (kept !== null && isComparedAndUntouched(kept, evidence)) return kept; // else all of the table would be missed again
    return together(parts, evidence, judge(shortId(worldId), evidence, settings))!;
  }

  /** The same with few findings of each check; null for a world of whose client nothing is known. */
  async shortReport(
    worldId: string,
    evidence: Evidence,
    settings: RefereeSettings,
  ): Promise<WorldReport | null> {
    return wasAsked(evidence)
      ? withFewFindings(await this.report(worldId, evidence, settings), FEW_FINDINGS)
      : null;
  }

  /** The reports on all worlds by their ids, also on those that are gone. @param living those on existing worlds, with few findings of each check */
  async reports(living: ReadonlyMap<string, WorldReport>): Promise<ConductReports> {
    const reports = new Map<string, WorldReport>();
    for (const [worldId, text] of await this.#notes.kept.all()) {
      const kept = together(partsIn(text), null, null);
      if (kept !== null) reports.set(worldId, withFewFindings(kept, FEW_FINDINGS));
    }
    for (const [worldId, report] of living) reports.set(worldId, report);
    return reportsOf([...reports].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report));
  }

  /** Forgets a world that is gone; keeps its verdict if somebody asks for all worlds. */
  async forget(worldId: string): Promise<void> {
    await this.#notes.settings.change(worldId, () => null);
    await this.#keepOnly(worldId, () => []);
  }

  async #keepOnly(worldId: string, chosen: (parts: readonly Part[]) => readonly Part[]): Promise<void> {
    const { settingsOfAll, kept } = this.#notes;
    if ((await settingsOfAll.get(ALL)) !== null) return;
    await kept.change(worldId, (before) => {
      const left = chosen(partsIn(before));
      return left.length === 0 ? null : JSON.stringify(left);
    });
  }
}
