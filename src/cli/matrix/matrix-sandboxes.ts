import { isDeepStrictEqual } from 'node:util';
import { World } from '../../client/controlled-world.ts';
import type { RefereeSettingsInput } from '../../contract/conduct.ts';
import type { ScenarioInput } from '../../contract/control.ts';
import { changedDialect, type Dialect, type DialectChange } from '../../contract/dialect.ts';
import { suggestion } from '../../contract/suggestion.ts';
import { UsageError } from '../../contract/usage-error.ts';
import { clockAt } from '../../worlds/wall-clock.ts';
import { systemClock } from '../../platform/system-clock.ts';
import { reportsOf } from '../../referee/reports/summary.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { shippedDialects } from '../../scenario/scenario-file.ts';
import type { SettingName, Settings } from '../../settings.ts';
import type { CommandRun, MatrixRow } from '../../trials/matrix/matrix.ts';
import { runClient, type Client } from '../../trials/run.ts';
import { openJudged, PER_RUN_SETTINGS, type JoinRules } from '../join-point.ts';
import { REFEREE_DEFAULTS } from '../own-server.ts';
import { libraryFor } from '../scenario-files/scenarios.ts';
import { speedOf, startMsOf } from './row-clock.ts';

export interface SandboxRow extends MatrixRow {
  readonly scenario: string | ScenarioInput;
  /** The same, compiled; undefined for the scenario of the settings in another dialect, also if a scenario names the dialect. */
  readonly compiled?: Scenario;
}

/**
 * The settings of a sandbox for a row. Its clock is as fast as its scenario needs, unless the scenario or the user says how fast it is.
 *
 * @param payouts the bodies of the initiates of the baseline
 */
export function settingsOf(
  { scenario, compiled }: SandboxRow,
  settings: Settings,
  payouts: Parameters<typeof speedOf>[1],
): Settings {
  const hasClock = settings.clock !== null || settings.clockSpeed !== undefined;
  const document = compiled?.source.document as ScenarioInput | undefined;
  if (hasClock || compiled === undefined || document?.clock !== undefined) return { ...settings, scenario };
  const speed = speedOf(compiled, payouts, startMsOf(compiled));
  return { ...settings, scenario, ...(speed > 1 && { clockSpeed: speed }) };
}

/** Single choices of other services that payment engineers meet. */
const CHOICES: readonly (readonly [name: string, change: DialectChange])[] = [
  ['client_ref_id.same_body=409', { client_ref_id: { same_body: 409 } }],
  ['client_ref_id.same_body=400', { client_ref_id: { same_body: 400 } }],
  ['client_ref_id.same_body=second_payout', { client_ref_id: { same_body: 'second_payout' } }],
  ['status.unknown=400', { status: { unknown: 400 } }],
  ['rate_limit.retry_after=absent', { rate_limit: { retry_after: 'absent' } }],
];

/** For a part of a dialect, the scenario in which a client meets it that does not meet it without a failure. */
const EXERCISED_BY: readonly (readonly [part: keyof Dialect, scenario: string])[] = [
  ['client_ref_id', 'reset-after-commit'], // it sends a reference again
  ['status', 'not-found-then-found'],
  ['rate_limit', 'rate-limited'],
];

/** The names in a list, each once, with those that `all` stands for. */
const named = (list: string, all: readonly string[]): readonly string[] => {
  const names = list.split(',').flatMap((name) => (name.trim() === 'all' ? all : name.trim()));
  return [...new Set(names)].filter((name) => name !== '' && name !== 'none');
};

/**
 * The rows of a matrix: the scenario of the settings with each dialect, then each scenario.
 *
 * @param dialects `all`, `none`, or names of presets
 * @param scenarios `all`, `none`, or scenarios by name or file
 */
export function sandboxRows(dialects: string, scenarios: string, settings: Settings): readonly SandboxRow[] {
  const library = libraryFor(settings, settings.scenario);
  const { dialect: base, source } = library.active;
  const presets = new Map([
    ...[...shippedDialects()].filter(([name]) => name !== 'default'),
    ...CHOICES.map(([name, change]) => [name, changedDialect(base, change)] as const),
  ]);
  const inDialect = (dialect: Dialect) => ({
    scenario: { ...(source.document as ScenarioInput), dialect },
    exercisedBy: EXERCISED_BY.find(
      ([part, scenario]) => scenario !== source.name && !isDeepStrictEqual(base[part], dialect[part]),
    )?.[1],
  });
  const dialectRow = (name: string): SandboxRow => {
    const dialect = presets.get(name);
    const known = ['all', 'none', ...presets.keys()];
    if (dialect === undefined) {
      throw new UsageError(
        `--dialects: there is no ${name}${suggestion(name, known)}: use ${known.join(', ')}`,
      );
    }
    return { kind: 'dialect', name, ...inDialect(dialect) };
  };
  const scenarioRow = (name: string): SandboxRow => {
    const compiled = libraryFor(settings, name).active; // refuses one that cannot be used
    const fields = Object.keys(compiled.source.document as ScenarioInput);
    const isDialectOnly = fields.every((field) => field === 'dialect' || field === 'description');
    if (isDialectOnly) return { kind: 'scenario', name, isDialectOnly, ...inDialect(compiled.dialect) };
    return { kind: 'scenario', name, scenario: name, compiled };
  };
  /** A rule that holds requests would wait for a release that never comes in a matrix. */
  const isHeld = (name: string): boolean =>
    library.get(name)!.rules.some(({ effect }) => effect.hold !== null);
  const usable = library.names.filter((name) => name !== 'default' && !isHeld(name));
  const rows = [
    ...named(dialects, [...presets.keys()]).map(dialectRow),
    ...named(scenarios, usable).map(scenarioRow),
  ];
  if (rows.length === 0) throw new UsageError('there is nothing to run: --dialects and --scenarios are none');
  return rows;
}

/** Runs a client once against a sandbox of its own, so that every world behaves alike, whichever keys the client uses. */
export async function runInSandbox(
  settings: Settings,
  conduct: RefereeSettingsInput,
  client: Client,
  limitMs: number,
  stop: AbortSignal,
  { fixed, said }: Pick<JoinRules<unknown>, 'fixed' | 'said'>,
): Promise<CommandRun> {
  const systemTime = systemClock();
  const offsetMs = startMsOf(libraryFor(settings, settings.scenario).active) - systemTime.nowMs();
  const wallClock = clockAt({ nowMs: () => systemTime.nowMs() + offsetMs }, systemTime);
  const ofRow: readonly SettingName[] = settings.clockSpeed === undefined ? [] : ['clockSpeed'];
  const misreported: string[] = [];
  const join = await openJudged(
    {
      by: 'matrix',
      usual: REFEREE_DEFAULTS,
      outer: settings,
      fixed: [...new Set([...fixed, ...PER_RUN_SETTINGS, ...ofRow])],
      said,
      wallClock,
      misreported,
    },
    conduct,
  );
  const world = new World(join.url!, 'sk_test_matrix');
  const { sandboxes, ...done } = await runClient(client, world, limitMs, stop, systemTime, join);
  return {
    ...done,
    isSuite: sandboxes.length > 1,
    misreported,
    conduct: reportsOf(sandboxes.flatMap(({ reports }) => reports)),
    worlds: sandboxes.flatMap(({ evidence }) => evidence.map((one) => one.evidence)),
  };
}
