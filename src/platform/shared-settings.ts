import { hash } from 'node:crypto';
import { durationText } from '../contract/duration.ts';
import { iso } from '../contract/instant.ts';
import type { ScenarioSource } from '../scenario/scenario.ts';
import { journalEntriesOf, SETTINGS, type SettingName, type Settings } from '../settings.ts';

const asTheyAre = ['openingBalance', 'settlement', 'magic', 'seed'] as const;
/** Limits that each server applies to the worlds of all: the strictest one counts. */
const limits = ['maxTransactions', 'maxWorlds', 'journalTotal'] as const;

/** A name, and what distinguishes a document from others of that name. */
const versioned = (name: string, document: unknown): string =>
  `${name} (${hash('sha256', JSON.stringify(document) ?? '').slice(0, 8)})`;

/** The settings that all servers of a store should have in common, by their variables, as texts. @param source the active scenario */
export function sharedSettings(settings: Settings, source: ScenarioSource): Readonly<Record<string, string>> {
  const { clock, rateLimit, worldIdle, dialect = 'default' } = settings;
  const texts: Partial<Record<SettingName, string>> = {
    scenario: versioned(source.name, source.document),
    dialect: versioned(dialect, source.settings.dialect),
    clock: clock === 'running' ? clock : iso(clock.frozenAtMs),
    rateLimit: rateLimit === 'off' ? rateLimit : `${rateLimit.max}/${durationText(rateLimit.windowMs)}`,
    worldIdle: durationText(worldIdle),
    journalEntries: String(journalEntriesOf(settings)),
  };
  for (const name of [...asTheyAre, ...limits]) texts[name] = String(settings[name]);
  return Object.fromEntries(
    SETTINGS.flatMap(({ name, env }) => (texts[name] === undefined ? [] : [[env, texts[name]]])),
  );
}
