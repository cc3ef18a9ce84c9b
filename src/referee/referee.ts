import type {
  CheckReport,
  ConductReports,
  Finding,
  RefereeSettings,
  WorldReport,
} from '../contract/conduct.ts';
import type { Evidence } from './case.ts';
import { judge, mergedReport, withFewFindings } from './judge.ts';
import { reportsOf } from './reports/summary.ts';

/** How many findings of each check a kept verdict and a report on all worlds have; the others are counted. */
const FEW_FINDINGS = 5;

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
  /** The verdicts on journals that worlds have lost, by their ids: `Kept` as JSON. */
  readonly kept: Notes;
}

/** The verdict on journals that a world has lost. */
interface Kept {
  readonly report: WorldReport;
  /** The ids of the requests that its findings show, by their numbers; empty for a number that stands for two. */
  readonly requestIds: Readonly<Record<number, string>>;
}

const ALL = 'all';

/** The ids of the requests that the findings of a report show. */
function requestIdsIn({ checks }: WorldReport, { requests }: Evidence): Kept['requestIds'] {
  const shown = new Set(checks.flatMap(({ findings }) => findings.flatMap((finding) => finding.requests)));
  return Object.fromEntries(
    requests.flatMap(({ id, request_id }) => (shown.has(id) ? [[id, request_id]] : [])),
  );
}

function together(one: Kept['requestIds'], other: Kept['requestIds']): Kept['requestIds'] {
  const both: Record<number, string> = { ...one };
  for (const [nth, id] of Object.entries(other))
    both[Number(nth)] = (both[Number(nth)] ?? id) === id ? id : '';
  return both;
}

/** What was kept, without the findings whose requests a world has again, by an undo or a restore: they are judged with the present journal. */
function withoutThoseIn({ report, requestIds }: Kept, { requests }: Evidence): WorldReport {
  const present = new Set(requests.map(({ request_id }) => request_id));
  const isBack = (finding: Finding): boolean =>
    finding.requests.length > 0 && finding.requests.every((nth) => present.has(requestIds[nth] ?? ''));
  const counts = { ...report.counts };
  const checks = report.checks.map((check): CheckReport => {
    const findings = check.findings.filter((finding) => !isBack(finding));
    for (const { severity } of check.findings.filter(isBack)) counts[severity] -= 1;
    if (findings.length === check.findings.length || findings.length + check.more > 0)
      return { ...check, findings };
    return { ...check, findings, verdict: 'not_exercised' };
  });
  return { ...report, counts, checks };
}

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

const wasAsked = ({ requests, evicted }: Evidence): boolean => requests.length > 0 || evicted > 0;

/** Whether the table of expected payouts was compared with what a world lost, and nothing has happened in that world since. */
const isComparedAndUntouched = ({ checks }: WorldReport, evidence: Evidence): boolean =>
  checks.some(({ id, verdict }) => id === 'expectation-missed' && verdict !== 'not_exercised') &&
  !wasAsked(evidence) &&
  evidence.ledger?.payouts.length === 0;

/** The settings of the referee, and its verdicts on journals that worlds have lost. */
export class Referee {
  readonly #notes: RefereeNotes;

  constructor(notes: RefereeNotes) {
    this.#notes = notes;
  }

  /** Begins a new verdict, so that a world that was reset can pass; unless there are settings for all worlds, which ask for the whole verdict. */
  async configure(worldId: string, settings: RefereeSettings): Promise<void> {
    await this.#notes.settings.change(worldId, () => JSON.stringify(settings));
    await this.#forgetVerdict(worldId);
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

  /** Judges the journal that a world is about to lose. @param isOver false when its payouts continue, so that expected ones may still be made */
  keep(worldId: string, evidence: Evidence, settings: RefereeSettings, isOver: boolean): Promise<void> {
    const { expect: _later, ...others } = settings;
    const report = judge(shortId(worldId), evidence, isOver ? settings : others);
    return this.#notes.kept.change(worldId, (before) => {
      const kept = parsed(before) as Kept | null;
      const both = kept === null ? report : mergedReport(withoutThoseIn(kept, evidence), report);
      const few = withFewFindings(both, FEW_FINDINGS);
      const requestIds = together(kept?.requestIds ?? {}, requestIdsIn(few, evidence));
      return JSON.stringify({ report: few, requestIds } satisfies Kept);
    });
  }

  /** The report on a world: on the journal that it lost, and on the one that it has. */
  async report(worldId: string, evidence: Evidence, settings: RefereeSettings): Promise<WorldReport> {
    const kept = parsed(await this.#notes.kept.get(worldId)) as Kept | null;
    if (kept !== null && isComparedAndUntouched(kept.report, evidence)) return kept.report; // else all of the table would be missed again
    const report = judge(shortId(worldId), evidence, settings);
    return kept === null ? report : mergedReport(withoutThoseIn(kept, evidence), report);
  }

  /** The same with few findings of each check; null for a world without requests. */
  async shortReport(
    worldId: string,
    evidence: Evidence,
    settings: RefereeSettings,
  ): Promise<WorldReport | null> {
    return wasAsked(evidence)
      ? withFewFindings(await this.report(worldId, evidence, settings), FEW_FINDINGS)
      : null;
  }

  /**
   * The reports on all worlds, including those that are gone, in the order of their ids.
   *
   * @param living the reports on the existing worlds, with few findings of each check
   */
  async reports(living: ReadonlyMap<string, WorldReport>): Promise<ConductReports> {
    const reports = new Map<string, WorldReport>();
    for (const [worldId, text] of await this.#notes.kept.all()) {
      reports.set(worldId, (JSON.parse(text) as Kept).report);
    }
    for (const [worldId, report] of living) reports.set(worldId, report);
    return reportsOf([...reports].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report));
  }

  /** Forgets a world that is gone; keeps its verdict if somebody asks for all worlds. */
  async forget(worldId: string): Promise<void> {
    await this.#notes.settings.change(worldId, () => null);
    await this.#forgetVerdict(worldId);
  }

  async #forgetVerdict(worldId: string): Promise<void> {
    const { settingsOfAll, kept } = this.#notes;
    if ((await settingsOfAll.get(ALL)) === null) await kept.change(worldId, () => null);
  }
}
