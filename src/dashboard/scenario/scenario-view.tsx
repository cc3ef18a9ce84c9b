import { useState } from 'preact/hooks';
import type { RuleResponse } from '../../contract/control-responses.ts';
import type { ScenarioInput } from '../../contract/control.ts';
import { magicBeneficiaries } from '../control-bar/failure-kinds.ts';
import { backToNormal, changeRules, orderRule, removeRule } from '../control-bar/rule-orders.ts';
import { useAction, useLive } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { counted } from '../ui/formats.ts';
import { Refusal } from '../ui/marks.tsx';
import { EditorDialog } from './editor-dialog.tsx';
import { putRules, rulesDocument } from './edited-rules.ts';
import { checkScenario } from './text-check.ts';
import css from './scenario.module.css';

interface RuleProps {
  readonly rule: RuleResponse;
  readonly children?: preact.ComponentChildren;
}

const RuleLine = ({ rule: { id, description, matched, taken }, children }: RuleProps) => (
  <li>
    <span>
      <code>{id}</code>
      {description !== '' && <span class="note">{description}</span>}
    </span>
    <span class="note number" title={`matched ${matched}, taken ${taken}`}>
      {taken === 0 ? 'unused' : `used ${counted(taken)}×`}
    </span>
    {children}
  </li>
);

/** How the world behaves: its scenario, and the overrides. */
export function ScenarioView() {
  const live = useLive();
  const { world } = live;
  const scenario = live.scenario.value;
  const scenarios = live.scenarios.value;
  const { isBusy, refusal, run } = useAction();
  const [edited, setEdited] = useState<{ readonly what: 'scenario' | 'rules'; readonly text: string } | null>(
    null,
  );
  const rules = scenario?.rules ?? [];
  const top = rules.filter(({ from }) => from === 'world');
  const own = rules.filter(({ from }) => from === 'scenario');
  const magic = magicBeneficiaries(scenario);
  const isNormal = top.length === 0 && scenario?.chosen === false;
  const notRead = scenario === null ? 'Loading' : null;
  const choose = (name: string): void =>
    void changeRules(
      live,
      () => world.use(name === '' ? null : name),
      name === '' ? 'The active scenario of the server is used.' : `The scenario is ${name}.`,
    );
  const edit = (what: 'scenario' | 'rules') => (): void =>
    run(async () => {
      const shown = what === 'scenario' ? scenario?.document : rulesDocument(top);
      setEdited({ what, text: (await checkScenario(live, { document: shown })).text });
    });
  const use = (document: unknown): Promise<string | null> =>
    changeRules(
      live,
      () => (edited?.what === 'rules' ? putRules(world, document) : world.use(document as ScenarioInput)),
      'The world behaves as written.',
    );

  return (
    <section class="view scrolling" aria-labelledby="scenario-title">
      <header class="view-head">
        <h2 id="scenario-title">Scenario</h2>
        <Button off={isNormal ? 'Everything is normal' : notRead} act={() => void backToNormal(live)}>
          Back to normal
        </Button>
      </header>
      <div class={css.choice}>
        <label class="field">
          <span>How this world behaves</span>
          <select
            value={scenario?.chosen === true ? scenario.name : ''}
            onChange={(event) => choose(event.currentTarget.value)}
          >
            <option value="">Active on the server: {scenarios?.in_force ?? '…'}</option>
            {scenario?.chosen === true &&
              !scenarios?.scenarios.some(({ name }) => name === scenario.name) && (
                <option value={scenario.name}>{scenario.name}</option>
              )}
            {scenarios?.scenarios.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <Button isBusy={isBusy} off={notRead} act={edit('scenario')}>
          Edit as YAML
        </Button>
        <Button isBusy={isBusy} off={notRead} act={edit('rules')}>
          {top.length === 0 ? 'Add a rule' : 'Edit overrides'}
        </Button>
      </div>
      {scenario !== null && scenario.description !== '' && <p class="note">{scenario.description}</p>}
      <Refusal text={refusal} />
      {edited !== null && (
        <EditorDialog
          title={edited.what === 'rules' ? 'Overrides of this world' : `Scenario ${scenario?.name ?? ''}`}
          note={
            edited.what === 'rules'
              ? 'They are tried before those of the scenario.'
              : 'Its rules and outcomes, for this world only. No file changes.'
          }
          start={edited.text}
          use={use}
          onClose={() => setEdited(null)}
        />
      )}

      {top.length > 0 && (
        <>
          <h3>Overrides</h3>
          <ul class={css.rules}>
            {top.map((rule) => (
              <RuleLine key={rule.id} rule={rule}>
                <Button kind="small" act={() => void removeRule(live, rule.name)}>
                  Off<span class="unseen"> {rule.name}</span>
                </Button>
              </RuleLine>
            ))}
          </ul>
        </>
      )}
      <h3>Rules of {scenario?.name ?? '…'}</h3>
      {scenario !== null && own.length === 0 && (
        <p class="note">None: every payout settles as usual for its mode.</p>
      )}
      <ul class={css.rules}>
        {own.map((rule) => (
          <RuleLine key={rule.id} rule={rule} />
        ))}
      </ul>
      {magic.length > 0 && (
        <details>
          <summary>Magic beneficiaries ({magic.length})</summary>
          <ul class={css.rules}>
            {magic.map(({ id, account, description, forEveryPayout, name }) => (
              <li key={id}>
                <span>
                  <code>{account}</code>
                  <span class="note">{description}</span>
                </span>
                <Button
                  kind="small"
                  title="For every payout, whatever its account"
                  act={() => void orderRule(live, forEveryPayout, `${name} for every payout`)}
                >
                  On<span class="unseen"> for every payout: {name}</span>
                </Button>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
