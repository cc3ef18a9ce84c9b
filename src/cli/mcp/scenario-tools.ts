import { z } from 'zod';
import { SOME_PAYOUT } from '../../client/test-world.ts';
import type { RuleRequest, ScenarioInput } from '../../contract/control.ts';
import type { RuleAnswer } from '../../contract/control-answers.ts';
import { RouteName } from '../../contract/match.ts';
import { packageText } from '../../package-files.ts';
import { problemText, readText } from '../../scenario/scenario-text.ts';
import { validateText } from '../scenario-files/validate.ts';
import { ofWorld, tool, ToolError } from './tool.ts';

/** Tools for scenarios and rules. */

/** The file name that messages use for a scenario that came as text. */
const FILE = 'scenario.yaml';

const part = (description: string) => z.looseObject({}).describe(description);

const shortRule = ({ id, description, matched, taken, rule, from }: RuleAnswer) => ({
  id,
  ...(description !== '' && { description }),
  matched,
  taken,
  ...(from === 'world' && { rule }),
});

/** The document that a text holds. @throws ToolError with the line of what is wrong */
function documentIn(text: string): ScenarioInput {
  const { input, problems } = readText(text);
  if (problems.length > 0) throw new ToolError(problems.map((one) => problemText(FILE, one)).join('\n'));
  return input as ScenarioInput;
}

const useScenario = tool({
  name: 'use_scenario',
  description:
    'Chooses how a world behaves from now on: a scenario of list_scenarios by name, or one of your own as YAML or JSON. Without either, the world returns to the scenario of the server. Rules of add_rule stay.',
  effect: 'changes',
  input: z.strictObject({
    ...ofWorld,
    name: z.string().min(1).optional(),
    scenario: z.string().min(1).optional().describe('A whole scenario as text; see scenario_reference'),
  }),
  async run({ key, name = null, scenario }, session) {
    if (name !== null && scenario !== undefined) throw new ToolError('give name or scenario, not both');
    const used = await session.world(key).use(scenario === undefined ? name : documentIn(scenario));
    return { name: used.name, description: used.description };
  },
});

const addRule = tool({
  name: 'add_rule',
  description:
    'Puts a rule on top of a world: what the client sees of the requests that match. The first rule that matches is taken. Example, a payout that is made although the client sees a 500: {"match":{"route":"initiate","attempt":1},"effect":{"commit":true,"respond":{"status":500}}}',
  effect: 'changes',
  input: z.strictObject({
    ...ofWorld,
    name: z.string().optional().describe('Replaces the rule on top that has this name'),
    match: part(
      'Conditions, all of which must hold: route (initiate, status, balance), client_ref_id, txn_id, beneficiary_account, beneficiary_ifsc, transfer_mode, amount, remarks, header, attempt (1 is the first of its reference), payout (1 is the first new reference). A text is a text, a list or {prefix, suffix, matches}; a number is a number, a list or {gt, gte, lt, lte}',
    ).optional(),
    effect: part(
      'What happens: respond ({status, code, message, headers, body}), fault (connection-reset, empty-response, truncated-body, malformed-json, garbage, hang, slow-body), delay ("2s"), commit (true: the payout is made even so), timeline ([{"to":"FAILED","after":"10s"}]), not_found ({"reads":2}), limit ({"max":3,"per":"10s"}), stale ("30s")',
    ),
    times: z.int().optional().describe('The most requests that it applies to'),
    skip: z.int().optional().describe('The first matching requests that it leaves alone'),
    probability: z.number().optional().describe('From 0 to 1'),
    during: part('A window of world time: {"from":"10m","for":"1h"}').optional(),
  }),
  async run({ key, ...rule }, session) {
    return { added: (await session.world(key).rule(rule as RuleRequest)).id };
  },
});

const explain = tool({
  name: 'explain',
  description:
    'Says which rule and outcome a request would take now, and why no other, without sending it. For an initiate, fields that are left out are those of a valid payout.',
  effect: 'reads',
  input: z.strictObject({
    ...ofWorld,
    route: RouteName,
    fields: part(
      'The fields of an initiate, or the client_ref_id or txn_id of a status read: {"client_ref_id":"order-1"}',
    ).default({}),
    headers: z.record(z.string(), z.string()).optional(),
    attempt: z.int().min(1).optional().describe('Which attempt it is. By default the next one'),
  }),
  async run({ key, route, fields, headers, attempt }, session) {
    const parts = {
      initiate: { body: { client_ref_id: 'order-1', ...SOME_PAYOUT, ...fields } },
      status: { query: fields },
      balance: {},
    };
    const { rules, outcomes, ...answer } = await session.world(key).explain({
      route,
      ...parts[route],
      ...(headers !== undefined && { headers }),
      ...(attempt !== undefined && { attempt }),
    });
    const isTelling = ({ id, taken }: { readonly id: string; readonly taken: boolean }): boolean =>
      taken || !id.startsWith('magic/'); // some fifty rules, each for an account of its own
    return { ...answer, rules: rules.filter(isTelling), outcomes: outcomes.filter(isTelling) };
  },
});

export const scenarioTools = [
  tool({
    name: 'list_scenarios',
    description: 'Lists the scenarios by name, with what a client sees in each.',
    effect: 'reads',
    input: z.strictObject({}),
    run: (_input, session) => session.world().scenarios(),
  }),
  tool({
    name: 'show_scenario',
    description:
      'Shows the scenario of a world as it is written, and its rules with how many requests matched each and how many it was applied to. Magic beneficiaries that no request met are left out.',
    effect: 'reads',
    input: z.strictObject(ofWorld),
    async run({ key }, session) {
      const { rules, outcomes, ...scenario } = await session.world(key).scenario();
      const own = rules.filter(({ from, matched }) => from !== 'magic' || matched > 0);
      const ofScenario = outcomes.filter(({ from }) => from === 'scenario');
      return { ...scenario, rules: own.map(shortRule), outcomes: ofScenario };
    },
  }),
  useScenario,
  tool({
    name: 'validate_scenario',
    description:
      'Checks a scenario without using it: every error with its line, and warnings of rules that never apply.',
    effect: 'reads',
    input: z.strictObject({ scenario: z.string().describe('The scenario as YAML or JSON text') }),
    run: async ({ scenario }) => validateText(scenario, FILE),
  }),
  tool({
    name: 'scenario_reference',
    description:
      'The reference of the scenario language, about 25 KB: read it before you write a scenario. add_rule alone does not need it.',
    effect: 'reads',
    input: z.strictObject({}),
    run: async () => packageText('docs/scenarios.md'),
  }),
  addRule,
  tool({
    name: 'clear_rules',
    description:
      'Removes the rule on top of a world that has this name, or all of them without a name. Those of the scenario stay.',
    effect: 'changes',
    input: z.strictObject({ ...ofWorld, name: z.string().min(1).optional() }),
    async run({ key, name }, session) {
      await session.world(key).removeRule(name);
      return { on_top: (await session.world(key).rules('world')).map(({ id }) => id) };
    },
  }),
  explain,
];
