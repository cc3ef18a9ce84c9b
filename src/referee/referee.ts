import { LRUCache } from 'lru-cache';
import {
  MAX_ENDED_JOURNALS,
  type ClientReport,
  type ConductReports,
  type EndedJournal,
  type RefereeSettings,
  type WorldReport,
} from '../contract/conduct.ts';
import type { RefereeState } from '../world/state-shape.ts';
import type { Evidence } from './case.ts';
import { judging, mergeReports, withFewFindings, type Judgement } from './judge.ts';
import { scoresOf } from './overrides.ts';
import { reportsOf } from './reports/summary.ts';
import { inSteps, type Steps } from '../world/steps.ts';

const wasAsked = ({ requests, evicted, ledger }: Evidence): boolean =>
  requests.length > 0 || evicted > 0 || (ledger.forgotten ?? 0) > 0;

/** A world as the referee judges it: what its state has of the referee, the settings that apply, and its journal. */
export interface Judged {
  readonly worldId: string;
  readonly kept: RefereeState;
  readonly settings: RefereeSettings;
  readonly evidence: Evidence;
}

/** How many findings of each check the report on an ended journal, and each on all worlds, has; the others are counted. */
const FEW_FINDINGS = 5;
/** Of how many dropped worlds the reports are kept. */
const MAX_DROPPED = 1000;

/** The journals that have ended, without those that the world has again. */
function withoutPresent(ended: readonly EndedJournal[], { requests }: Evidence): readonly EndedJournal[] {
  const present = new Set<string | null>(requests.map(({ request_id }) => request_id));
  return ended.filter(({ last }) => !present.has(last));
}

/** A list with one journal more, and the oldest two merged where there are too many. */
function withJournal(journals: readonly EndedJournal[], journal: EndedJournal): readonly EndedJournal[] {
  const [oldest, next, ...others] = journals;
  if (oldest === undefined || next === undefined || journals.length < MAX_ENDED_JOURNALS)
    return [...journals, journal];
  const merged = withFewFindings(mergeReports([oldest.report, next.report]), FEW_FINDINGS);
  return [{ report: merged, last: null }, ...others, journal];
}

const judgingPresent = ({ worldId, evidence, settings }: Judged): Steps<Judgement> =>
  judging(worldId.slice(0, 8), evidence, settings);

/** All journals of a world once its present one has ended. @param before those that had ended, when that one has been judged */
export function* allEnded(
  judged: Judged,
  before: () => readonly EndedJournal[],
  shown = (report: WorldReport) => report,
): Steps<readonly EndedJournal[]> {
  const { evidence } = judged;
  if (!wasAsked(evidence)) return withoutPresent(before(), evidence);
  const report = shown(withFewFindings((yield* judgingPresent(judged)).report, FEW_FINDINGS));
  const last = evidence.requests.at(-1)?.request_id ?? null;
  return withJournal(withoutPresent(before(), evidence), { report, last });
}

/**
 * Judges how the clients of this server's worlds behave. The settings of a world, and its reports on journals that resets have
 * ended, are in the state of the world; the settings for all worlds, and the reports on dropped worlds, are this server's.
 */
export class Referee {
  /** The settings for all worlds, which ask for the reports on every journal; null for none. */
  settingsOfAll: RefereeSettings | null = null;
  /** The journals of worlds that were dropped, by their ids. */
  readonly #dropped = new LRUCache<string, readonly EndedJournal[]>({ max: MAX_DROPPED });

  /** The settings to judge a journal by that is about to end; null when nobody wants the report. */
  settingsToJudge({ settings }: RefereeState): RefereeSettings | null {
    return settings ?? this.settingsOfAll;
  }

  /** Keeps the reports on a world that was dropped. */
  *dropped(preparing: Steps<Judged>): Steps<void> {
    const judged = yield* preparing;
    const all = yield* allEnded(judged, () => this.#endedOf(judged));
    if (all.length > 0) this.#dropped.set(judged.worldId, all);
  }

  /** Forgets the journals of a world from before it was dropped, unless the settings for all worlds ask for the whole verdict. */
  forget(worldId: string): void {
    if (this.settingsOfAll === null) this.#dropped.delete(worldId);
  }

  /**
   * The report on a world, in steps: on its journals that have ended, and on the one that it has, unless that is still empty; and on
   * the overrides that it has.
   */
  *report(preparing: Steps<Judged>): Steps<ClientReport> {
    const judged = yield* preparing;
    const { report, evaluated } = yield* judgingPresent(judged);
    const overrides = yield* scoresOf(judged.evidence, evaluated);
    return { ...this.#withEnded(judged, report), overrides };
  }

  #withEnded(judged: Judged, present: WorldReport): WorldReport {
    const { evidence } = judged;
    const ended = this.#endedOf(judged).map(({ report }) => report);
    if (ended.length === 0 || wasAsked(evidence)) return mergeReports([...ended, present]);
    const { name, judged_by } = present; // the rest would say that all of a table is missed once more
    return { ...mergeReports(ended), name, judged_by };
  }

  /** The same with few findings of each check; null for a world that is gone, or of whose client nothing is known. */
  *shortReport(preparing: Steps<Judged> | null): Steps<WorldReport | null> {
    const judged = preparing && (yield* preparing);
    if (judged === null || (!wasAsked(judged.evidence) && this.#endedOf(judged).length === 0)) return null;
    const { report } = yield* judgingPresent(judged);
    return withFewFindings(this.#withEnded(judged, report), FEW_FINDINGS);
  }

  /** The reports on all worlds by their ids, also on those that are gone, in steps. @param living those on existing worlds, with few findings of each check */
  *reports(living: ReadonlyMap<string, WorldReport>): Steps<ConductReports> {
    const dropped = yield* inSteps([...this.#dropped.entries()], ([worldId, journals]) => {
      const report = mergeReports(journals.map((ended) => ended.report));
      return [worldId, withFewFindings(report, FEW_FINDINGS)] as const;
    });
    const reports = new Map([...dropped, ...living]);
    return reportsOf([...reports].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, report]) => report));
  }

  #endedOf({ worldId, kept, evidence }: Judged): readonly EndedJournal[] {
    return withoutPresent([...(this.#dropped.get(worldId) ?? []), ...kept.ended], evidence);
  }
}
