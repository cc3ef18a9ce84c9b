import type { RateLimit, ScenarioSettings } from '../contract/snapshot-lines.ts';
import { toPaise } from '../payout/money.ts';
import { readDialect } from './scenario-file.ts';

/** The settings of the server that concern scenarios. */
interface Given extends Pick<ScenarioSettings, 'seed' | 'settlement'> {
  /** INR. */
  readonly openingBalance: number;
  readonly clock: { readonly frozenAtMs: number } | 'running';
  readonly rateLimit: RateLimit | 'off';
  readonly magic: 'on' | 'off';
  /** The name of a dialect, or a file. */
  readonly dialect?: string | undefined;
}

/** The settings that apply where a scenario sets nothing itself. @throws ScenarioError for a dialect that cannot be used */
export const scenarioSettings = ({
  openingBalance,
  seed,
  settlement,
  clock,
  rateLimit,
  magic,
  dialect,
}: Given): ScenarioSettings => ({
  openingBalancePaise: toPaise(openingBalance),
  seed,
  settlement,
  clock: clock === 'running' ? { frozenAtMs: null, aheadMs: 0 } : clock,
  rateLimit,
  isMagic: magic === 'on',
  ...(dialect !== undefined && { dialect: readDialect(dialect) }),
});
