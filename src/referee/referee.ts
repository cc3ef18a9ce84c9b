import type { ConductReports, RefereeSettings, WorldReport } from '../contract/conduct.ts';
import type { Evidence } from './case.ts';
import { fromBeforeReset, judge, mergeReports, withFewFindings } from './judge.ts';
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
  /** The reports on the journals of worlds that have ended, by their ids: a list of `EndedJournal` as JSON. */
  readonly ended: Notes;
}

const ALL = 'all';

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

const wasAsked = ({ requests, evicted, ledger }: Evidence): boolean =>
  requests.length > 0 || evicted > 0 || (ledger.forgotten ?? 0) > 0;

/** What ends the journal of a world, so that its client can no longer ask. */
export type JournalEnd = 'reset' | 'drop';

interface EndedJournal {
  readonly report: WorldReport;
  /** The id of its newest request; null where it had none, or for several journals. An undo may bring it back, with its journal. */
  readonly last: string | null;
}

/** How many findings of each check the report on an ended journal, and each on all worlds, has; the others are counted. */
const FEW_FINDINGS = 5;
/** How many ended journals of a world are kept apart; the reports on older ones are merged. */
const MOST_JOURNALS = 10;

/** The journals of a world that have ended, without those that it has again. @param now what it has */
function endedIn(text: string | null, now?: Evidence): readonly EndedJournal[] {
  const present = new Set<string | null>(now?.requests.map(({ request_id }) => request_id));
  return ((parsed(text) ?? []) as readonly EndedJournal[]).filter(({ last }) => !present.has(last));
}

/** A list with one journal more, and the oldest two merged where there are too many. */
function withJournal(journals: readonly EndedJournal[], journal: EndedJournal): readonly EndedJournal[] {
  const [oldest, next, ...others] = journals;
  if (oldest === undefined || next === undefined || journals.length < MOST_JOURNALS)
    return [...journals, journal];
  const merged = withFewFindings(mergeReports([oldest.report, next.report])!, FEW_FINDINGS);
  return [{ report: merged, last: null }, ...others, journal];
}

/** The settings of the referee, and its reports on journals that have ended. */
export class Referee {
  readonly #notes: RefereeNotes;

  constructor(notes: RefereeNotes) {
    this.#notes = notes;
  }

  /** Forgets the journals that ended, so that a world that was reset can pass, unless the settings for all worlds ask for the whole verdict. */
  async configure(worldId: string, settings: RefereeSettings): Promise<void> {
    await this.#notes.settings.change(worldId, () => JSON.stringify(settings));
    await this.#forgetEnded(worldId);
  }

  /** From now on the reports on all worlds are kept. */
  configureAll(settings: RefereeSettings): Promise<void> {
    return this.#notes.settingsOfAll.change(ALL, () => JSON.stringify(settings));
  }

  async settingsOf(worldId: string): Promise<RefereeSettings> {
    return (await this.settingsToJudge(worldId)) ?? {};
  }

  /** The settings to judge a journal by that is about to end; null when nobody wants the report. */
  async settingsToJudge(worldId: string): Promise<RefereeSettings | null> {
    const { settings, settingsOfAll } = this.#notes;
    const [ofWorld, ofAll] = await Promise.all([settings.get(worldId), settingsOfAll.get(ALL)]);
    return parsed(ofWorld ?? ofAll) as RefereeSettings | null;
  }

  /** Adds the report on a journal that has ended to those of its world. */
  async add(worldId: string, evidence: Evidence, settings: RefereeSettings, end: JournalEnd): Promise<void> {
    if (!wasAsked(evidence)) return;
    const judged = withFewFindings(judge(shortId(worldId), evidence, settings), FEW_FINDINGS);
    const report = end === 'reset' ? fromBeforeReset(judged) : judged; // a world that was dropped has nothing else to report
    const last = evidence.requests.at(-1)?.request_id ?? null;
    await this.#notes.ended.change(worldId, (before) =>
      JSON.stringify(withJournal(endedIn(before, evidence), { report, last })),
    );
  }

  /** The report on a world: on its journals that have ended, and on the one that it has, unless that is still empty. */
  async report(worldId: string, evidence: Evidence, settings: RefereeSettings): Promise<WorldReport> {
    const ended = endedIn(await this.#notes.ended.get(worldId), evidence).map(({ report }) => report);
    const present = judge(shortId(worldId), evidence, settings);
    if (ended.length === 0 || wasAsked(evidence)) return mergeReports([...ended, present])!;
    const { name, judged_by } = present; // the rest would say that all of a table is missed once more
    return { ...mergeReports(ended)!, name, judged_by };
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
    for (const [worldId, text] of await this.#notes.ended.all()) {
      const report = mergeReports(endedIn(text).map((ended) => ended.report));
      if (report !== null) reports.set(worldId, withFewFindings(report, FEW_FINDINGS));
    }
    for (const [worldId, report] of living) reports.set(worldId, report);
    return reportsOf([...reports].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report));
  }

  /** Forgets a world that is gone; keeps the reports on it if somebody asks for all worlds. */
  async forget(worldId: string): Promise<void> {
    await this.#notes.settings.change(worldId, () => null);
    await this.#forgetEnded(worldId);
  }

  async #forgetEnded(worldId: string): Promise<void> {
    const { settingsOfAll, ended } = this.#notes;
    if ((await settingsOfAll.get(ALL)) === null) await ended.change(worldId, () => null);
  }
}
