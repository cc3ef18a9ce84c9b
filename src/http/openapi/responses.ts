import { z } from 'zod';
import { ClientReport, ConductReports } from '../../contract/conduct.ts';
import * as shown from '../../contract/control-responses.ts';
import { SnapshotText } from '../../contract/control.ts';
import { BalanceResponse, InitiateResponse, StatusResponse } from '../../contract/service-responses.ts';

/** A response that its handler writes as text, so that TypeScript cannot compare the two. Tests do. */
const asText = (schema: z.ZodType): z.ZodType => schema;

const OpenapiResponse = z
  .record(z.string(), z.unknown())
  .describe('The OpenAPI 3.1 document of the service and of the control API');

/** What `GET /_sandbox/events` answers. */
const EventsText: z.ZodType = z.string().meta({
  id: 'Events',
  description: [
    'Server-sent events, until the reader disconnects. Each has an `id`, a type (`event`) and one line of JSON (`data`).',
    'All but `missed` have the `sums` of the world right after it: `{balance, payouts, at_risk, out_of_date}`, where `payouts` has count and amount by state.',
    '`request` a JournalEntry, when a request ends or begins to wait; `settlement` a Change. Both have the whole `transaction` that they are about, `request` null for none;',
    '`wallet` `{balance, entry}`, for money that was credited or debited by hand; `clock` `{now, frozen}`;',
    '`at_risk` `{count, amount}`, when the payouts that the client was not told of change;',
    '`scenario` `{scenario, rule}`, when the scenario or the overrides change; `rule` `{rule, matched, taken}`, when a',
    'rule was applied to a request; `held` a HeldRequest and `released` `{id, how}`, when a request begins to wait and when its wait ends;',
    '`journal` `{removed, as}`, when it was `cleared`, or its requests were `evicted` because the sandbox needed their memory;',
    '`reset` `{now}`; `restore` `{now, undone}`, where `undone` is the action that an undo has taken back, and absent for a snapshot; `missed` `{missed}`, how many events were dropped',
    'before this one, or null. A line that begins with `:` is a comment that keeps the connection open.',
  ].join(' '),
});

/**
 * What each operation answers, by its operationId and by status. Handlers have their types from here, the OpenAPI document its
 * schemas, and tests check every response against them. A start does not load these schemas.
 */
export const RESPONSES = {
  initiatePayout: { 200: asText(InitiateResponse) },
  getPayoutStatus: { 200: asText(StatusResponse) },
  fetchBalance: { 200: asText(BalanceResponse) },
  getWorld: { 200: shown.WorldResponse },
  resetWorld: { 200: shown.WorldResponse },
  undo: { 200: shown.UndoResponse },
  getClock: { 200: shown.ClockResponse },
  setClockSpeed: { 200: shown.ClockResponse },
  freezeClock: { 200: shown.ClockResponse },
  resumeClock: { 200: shown.ClockResponse },
  advanceClock: { 200: asText(shown.AdvanceResponse) },
  getWallet: { 200: shown.WalletResponse },
  creditWallet: { 200: shown.MoneyResponse },
  debitWallet: { 200: shown.MoneyResponse },
  listEntries: { 200: shown.EntriesResponse },
  listTransactions: { 200: shown.TransactionsResponse },
  getTransaction: { 200: shown.TransactionResponse },
  forceTransition: { 200: shown.TransactionResponse },
  listScenarios: { 200: shown.ScenariosResponse },
  reloadScenarios: { 200: shown.ReloadResponse },
  getScenario: { 200: shown.ScenarioResponse },
  chooseScenario: { 200: shown.ScenarioResponse },
  checkScenario: { 200: shown.CheckScenarioResponse },
  listRules: { 200: shown.RulesResponse },
  putRule: { 201: shown.RuleResponse },
  explainRequest: { 200: shown.ExplainResponse },
  removeRules: { 200: shown.RulesResponse },
  removeRule: { 200: shown.RulesResponse },
  getState: { 200: asText(SnapshotText) },
  putState: { 200: shown.WorldResponse },
  listHeld: { 200: shown.HeldResponse },
  releaseHeld: { 200: shown.HeldRequestResponse },
  listRequests: { 200: asText(shown.RequestsResponse) },
  clearRequests: { 200: shown.ClearedResponse },
  verifyRequests: { 200: shown.VerifyResponse },
  readEvents: { 200: EventsText },
  judgeClient: { 200: asText(ClientReport) },
  instructReferee: { 200: ClientReport },
  judgeClients: { 200: asText(ConductReports) },
  instructRefereeForAll: { 200: ConductReports },
  getHealth: { 200: shown.HealthResponse, 503: shown.HealthResponse },
  getLiveness: { 200: shown.LiveResponse },
  getOpenapi: { 200: asText(OpenapiResponse) },
  getMetrics: { 200: asText(z.string().describe("Counters and gauges in Prometheus' text format")) },
  listWorlds: { 200: shown.WorldsResponse },
  dropWorld: { 200: shown.DroppedResponse },
} as const;
