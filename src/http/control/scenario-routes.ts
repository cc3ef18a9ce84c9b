import { z } from 'zod';
import {
  ChooseRequest,
  RuleQuery,
  RuleRequest,
  ScenarioQuery,
  ScenarioRequest,
  type ScenarioInput,
  ExplainRequest,
  CheckScenarioRequest,
  MAX_CHECKED_TEXT,
} from '../../contract/control.ts';
import type { RuleResponse, ScenariosResponse } from '../../contract/control-responses.ts';
import { fieldError, Refusal, invalidField, invalidRequest } from '../../contract/errors.ts';
import { pathText } from '../../contract/shape-issues.ts';
import { nearestNames } from '../../contract/suggestion.ts';
import type { Rule } from '../../scenario/rule.ts';
import { ScenarioError } from '../../scenario/scenario-file.ts';
import { scenarioText, type Problem } from '../../scenario/scenario-text.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { CommandOf } from '../../world/commands.ts';
import { explainRequest } from '../../world/explain.ts';
import type { HttpExchange } from '../http-exchange.ts';
import { act, type ControlRoutes, checked, operation } from '../routes.ts';
import { ruleResponse, rulesResponse, scenarioResponse } from './world-responses.ts';

const START = { line: 1, column: 1 };

/** Compiles a document that a client sent. @throws Refusal INVALID_REQUEST with everything that is wrong with it */
function compiled<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const errors = error.problems.map(({ path, message }) => fieldError(path || 'body', message));
    throw invalidRequest(errors, error.more);
  }
}

const problemOf = ({ place, path, message }: Problem) => ({ ...(place ?? START), path, message });

const isNaming = (body: unknown): boolean => typeof body === 'object' && body !== null && 'use' in body;

async function choose(exchange: HttpExchange, scenario: Scenario, isChosen: boolean) {
  await act(exchange, { kind: 'choose', source: scenario.source, isChosen });
  return exchange.world.read(scenarioResponse);
}

async function removeRule(exchange: HttpExchange, name: string | null): Promise<{ rules: RuleResponse[] }> {
  await act(exchange, { kind: 'removeRule', name });
  return { rules: await exchange.world.read(rulesResponse) };
}

/** How a world behaves: its scenario, and the overrides. */
export const scenarioRoutes: ControlRoutes = async (app, { scenarios, wallClock, worlds }) => {
  const named = (name: string): Scenario => {
    const scenario = scenarios.get(name);
    if (scenario !== undefined) return scenario;
    const { names } = scenarios;
    throw new Refusal('SCENARIO_NOT_FOUND', {
      message: `There is no scenario ${pathText([name])}${nearestNames(name, names)}. payout-sandbox scenario --list has all ${names.length}`,
    });
  };

  app.get('/scenarios', operation('Scenario', 'listScenarios', 'The scenarios to choose from'), async () => {
    const all: ScenariosResponse['scenarios'] = [];
    for (const { name, description } of scenarios.all()) {
      all.push({ name, description });
      await wallClock.yieldToEventLoop(); // a file that was not used before takes some milliseconds
    }
    return { in_force: scenarios.active.name, scenarios: all };
  });

  app.get(
    '/scenario',
    operation('Scenario', 'getScenario', 'The scenario of this world, with its rules'),
    ({ exchange: { world } }) => world.read(scenarioResponse),
  );

  app.put(
    '/scenario',
    operation('Scenario', 'chooseScenario', 'Choose a scenario, or send one', {
      errors: ['SCENARIO_NOT_FOUND', 'SANDBOX_FULL'],
      requestBody: ScenarioRequest,
      querystring: ScenarioQuery,
    }),
    async ({ body, query: { name }, exchange }) => {
      if (isNaming(body)) {
        const { use } = checked(ChooseRequest, body, 'body');
        return use === null ? choose(exchange, scenarios.active, false) : choose(exchange, named(use), true);
      }
      if (body === undefined || body === null) {
        throw invalidField('body', 'must be {"use":"NAME"} or a whole scenario'); // although an empty file is a scenario
      }
      const sent = compiled(() => scenarios.compile(body, name));
      return choose(exchange, sent, true);
    },
  );

  app.post(
    '/scenario/check',
    operation('Scenario', 'checkScenario', 'Check the text of a scenario', {
      description: 'Says whether a scenario can be used, and converts its text to JSON or its JSON to text.',
      body: CheckScenarioRequest,
    }),
    async ({ body }) => {
      const text = body.text ?? scenarioText(body.document as ScenarioInput);
      if (text.length > MAX_CHECKED_TEXT) {
        throw invalidField('document', `must be at most ${MAX_CHECKED_TEXT} characters as YAML`);
      }
      const found = scenarios.check(text);
      const { problems, warnings } = found;
      return { text, ...found, problems: problems.map(problemOf), warnings: warnings.map(problemOf) };
    },
  );

  app.get(
    '/rules',
    operation('Scenario', 'listRules', 'The rules, in order of evaluation'),
    async ({ exchange: { world } }) => ({ rules: await world.read(rulesResponse) }),
  );

  app.post(
    '/rules',
    operation('Scenario', 'putRule', 'Add an override', {
      errors: ['TOO_MANY_RULES', 'SANDBOX_FULL'],
      querystring: RuleQuery,
      requestBody: RuleRequest,
    }),
    async ({ body, exchange, query: { last } }, reply) => {
      checked(RuleRequest, body ?? undefined, 'body');
      const document = body as CommandOf<'putRule'>['rule'];
      const named = (name: string): Rule => compiled(() => scenarios.rules([{ name, ...document }])[0]!);
      named('rule-1'); // refuses a wrong document; inside the command, the error would count as a bug
      const id = await act(exchange, { kind: 'putRule', rule: document, last });
      void reply.code(201);
      return ruleResponse(named(id.slice(id.indexOf('/') + 1)), new Map());
    },
  );

  app.post(
    '/rules/explain',
    operation('Scenario', 'explainRequest', 'Explain which rule a request would match', {
      description: 'Uses the world as it is now. The request is not sent, and nothing is counted.',
      body: ExplainRequest,
    }),
    ({ body, exchange: { world } }) => world.read((state) => explainRequest(state, body, worlds.room)),
  );

  app.delete('/rules', operation('Scenario', 'removeRules', 'Remove all overrides'), ({ exchange }) =>
    removeRule(exchange, null),
  );

  app.delete(
    '/rules/:name',
    operation('Scenario', 'removeRule', 'Remove an override', {
      errors: ['RULE_NOT_FOUND'],
      params: z.object({ name: z.string().meta({ description: 'The name of the rule' }) }),
    }),
    ({ params: { name }, exchange }) => removeRule(exchange, name),
  );
};
