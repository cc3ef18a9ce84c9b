import type { ComponentChildren } from 'preact';
import type { RuleResponse } from '../../contract/control-responses.ts';
import { backToNormal, chooseScenario, removeRule } from '../actions/rule-orders.ts';
import { useLive } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { grouped } from '../../contract/words.ts';
import { placeOf } from './rule-link.tsx';
import { EditButton, ScenarioEditor } from './scenario-editor.tsx';

interface LineProps {
  readonly id: string;
  readonly description: string;
  readonly children?: ComponentChildren;
}

/** A rule or an outcome. */
const Line = ({ id, description, children }: LineProps) => (
  <li id={placeOf(id)} tabIndex={-1}>
    <span>
      <code>{id}</code>
      <span class="note">{description}</span>
    </span>
    {children}
  </li>
);

const usedText = ({ taken }: RuleResponse): string => (taken === 0 ? 'waiting' : `used ${grouped(taken)}×`);

function ScenarioList({ name: current }: { readonly name: string | null }) {
  const live = useLive();
  const { scenarios = [] } = live.scenarios.value ?? {};
  return (
    <ul class="rows" aria-label="Scenarios">
      {scenarios.map(({ name, description }) => (
        <li key={name} aria-current={name === current}>
          <span>
            <code>{name}</code>
            <span class="note">{description}</span>
          </span>
          <Button
            kind="small"
            off={name === current ? 'Already in use' : null}
            act={() => chooseScenario(live, name)}
          >
            Use<span class="unseen"> {name}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** How the world behaves: its scenario, and the overrides. */
export function ScenarioView() {
  const live = useLive();
  const scenario = live.scenario.value;
  const {
    rules = [],
    outcomes = [],
    name = '…',
    description = '',
    chosen: isChosen = false,
  } = scenario ?? {};
  const top = rules.filter(({ from }) => from === 'world');
  const own = rules.filter(({ from }) => from === 'scenario');
  const ownOutcomes = outcomes.filter(({ from }) => from === 'scenario');
  const isNormal = top.length === 0 && !isChosen;
  return (
    <section class="view scrolling" aria-labelledby="scenario-title">
      <header class="view-head">
        <h2 id="scenario-title">Scenario</h2>
        <p class="note" role="status">
          {scenario !== null && `${name}, ${isChosen ? 'chosen for this world' : 'active on the server'}`}
        </p>
        <Button off={isNormal ? 'Everything is normal' : null} act={() => backToNormal(live)}>
          Back to normal
        </Button>
        <EditButton />
      </header>
      {description !== '' && <p class="note">{description}</p>}
      <ScenarioEditor />
      {top.length > 0 && (
        <>
          <h3>Added rules</h3>
          <ul class="rows">
            {top.map((rule) => (
              <Line key={rule.id} {...rule}>
                <span class="note number">{usedText(rule)}</span>
                <Button kind="small" act={() => removeRule(live, rule)}>
                  Remove<span class="unseen"> {rule.name}</span>
                </Button>
              </Line>
            ))}
          </ul>
        </>
      )}
      <h3>Rules of {name}</h3>
      {own.length === 0 && <p class="note">No rules.</p>}
      <ul class="rows">
        {own.map((rule) => (
          <Line key={rule.id} {...rule}>
            <span class="note number">{usedText(rule)}</span>
          </Line>
        ))}
      </ul>
      <h3>Outcomes of {name}</h3>
      {ownOutcomes.length === 0 && <p class="note">No outcomes.</p>}
      <ul class="rows">
        {ownOutcomes.map(({ id, description, outcome }) => (
          <Line key={id} id={id} description={description || JSON.stringify(outcome)} />
        ))}
      </ul>
      <h3>All scenarios</h3>
      <ScenarioList name={scenario === null ? null : name} />
    </section>
  );
}
