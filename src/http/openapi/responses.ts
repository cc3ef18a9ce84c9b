import { z } from 'zod';
import { ClientReport, ConductReports } from '../../contract/conduct.ts';
import {
  HeldRequestResponse,
  HeldResponse,
  AdvanceResponse,
  CheckScenarioResponse,
  ClearedResponse,
  ClockResponse,
  DroppedResponse,
  EntriesResponse,
  ExplainResponse,
  HealthResponse,
  LiveResponse,
  MoneyResponse,
  ReloadResponse,
  RequestsResponse,
  RuleResponse,
  RulesResponse,
  ScenarioResponse,
  ScenariosResponse,
  TransactionResponse,
  TransactionsResponse,
  UndoResponse,
  VerifyResponse,
  WalletResponse,
  WorldResponse,
  WorldsResponse,
} from '../../contract/control-responses.ts';
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
  getWorld: { 200: WorldResponse },
  resetWorld: { 200: WorldResponse },
  undo: { 200: UndoResponse },
  getClock: { 200: ClockResponse },
  setClockSpeed: { 200: ClockResponse },
  freezeClock: { 200: ClockResponse },
  resumeClock: { 200: ClockResponse },
  advanceClock: { 200: asText(AdvanceResponse) },
  getWallet: { 200: WalletResponse },
  creditWallet: { 200: MoneyResponse },
  debitWallet: { 200: MoneyResponse },
  listEntries: { 200: EntriesResponse },
  listTransactions: { 200: TransactionsResponse },
  getTransaction: { 200: TransactionResponse },
  forceTransition: { 200: TransactionResponse },
  listScenarios: { 200: ScenariosResponse },
  reloadScenarios: { 200: ReloadResponse },
  getScenario: { 200: ScenarioResponse },
  chooseScenario: { 200: ScenarioResponse },
  checkScenario: { 200: CheckScenarioResponse },
  listRules: { 200: RulesResponse },
  putRule: { 201: RuleResponse },
  explainRequest: { 200: ExplainResponse },
  removeRules: { 200: RulesResponse },
  removeRule: { 200: RulesResponse },
  getState: { 200: asText(SnapshotText) },
  putState: { 200: WorldResponse },
  listHeld: { 200: HeldResponse },
  releaseHeld: { 200: HeldRequestResponse },
  listRequests: { 200: asText(RequestsResponse) },
  clearRequests: { 200: ClearedResponse },
  verifyRequests: { 200: VerifyResponse },
  readEvents: { 200: EventsText },
  judgeClient: { 200: asText(ClientReport) },
  instructReferee: { 200: ClientReport },
  judgeClients: { 200: asText(ConductReports) },
  instructRefereeForAll: { 200: ConductReports },
  getHealth: { 200: HealthResponse, 503: HealthResponse },
  getLiveness: { 200: LiveResponse },
  getOpenapi: { 200: asText(OpenapiResponse) },
  getMetrics: { 200: asText(z.string().describe("Counters and gauges in Prometheus' text format")) },
  listWorlds: { 200: WorldsResponse },
  dropWorld: { 200: DroppedResponse },
} as const;
