import { useState } from 'preact/hooks';
import type { RuleAnswer } from '../../contract/control-answers.ts';
import type { RuleRequest, ScenarioInput } from '../../contract/control.ts';
import { useAction } from '../live/action.ts';
import { FAILURE_SWITCHES, magicBeneficiaries } from './failure-switches.ts';
import { counted } from '../lists/formats.ts';
import { EditorDialog } from '../editor/editor-dialog.tsx';
import { checkScenario } from '../editor/text-check.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { putRules, rulesDocument } from '../editor/edited-rules.ts';
import { Refusal } from '../detail/refusal.tsx';

const TIMES = { always: 'for every payout', '1': 'for the next one', '3': 'for the next 3' } as const;

interface RuleProps {
  readonly rule: RuleAnswer;
  readonly children: preact.ComponentChildren;
}

const RuleLine = ({ rule: { id, description, matched, taken }, children }: RuleProps) => (
  <li class="rule">
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

/** How the world behaves: its scenario, the failures that are switched on, and the button that undoes both. */
export function ScenarioSection({ live }: { readonly live: LiveWorld }) {
  const { world, news } = live;
  const scenario = live.scenario.value;
  const scenarios = live.scenarios.value;
  const [times, setTimes] = useState<keyof typeof TIMES>('always');
  const { isBusy, refusal, run } = useAction();
  const [edited, setEdited] = useState<{ readonly what: 'scenario' | 'rules'; readonly text: string } | null>(
    null,
  );
  const rules = scenario?.rules ?? [];
  const top = rules.filter(({ from }) => from === 'world');
  const own = rules.filter(({ from }) => from === 'scenario');
  const magic = magicBeneficiaries(scenario);
  const isNormal = top.length === 0 && scenario?.chosen === false;

  const order = (said: string, act: () => Promise<unknown>) => (): void =>
    run(async () => {
      await act();
      live.takeScenario(await world.scenario());
      news.say(said);
    });
  const switchOn = (rule: RuleRequest) =>
    order(`${rule.name ?? 'A rule'} is on`, () =>
      world.rule(times === 'always' ? rule : { ...rule, times: Number(times) }),
    );
  const switchOff = (name: string) => order(`${name} is off`, () => world.removeRule(name));
  const choose = (name: string) =>
    order(name === '' ? 'The active scenario of the server is used' : `The scenario is ${name}`, () =>
      world.use(name === '' ? null : name),
    );
  const normal = order('Back to normal', async () => {
    await world.removeRule();
    await world.use(null);
  });

  const edit = (what: 'scenario' | 'rules') => (): void =>
    run(async () => {
      const shown = what === 'scenario' ? scenario?.document : rulesDocument(top);
      setEdited({ what, text: (await checkScenario(live, { document: shown })).text });
    });
  const use = async (document: unknown): Promise<void> => {
    if (edited?.what === 'rules') await putRules(world, document);
    else await world.use(document as ScenarioInput);
    live.takeScenario(await world.scenario());
    news.say('The world behaves as written');
  };

  return (
    <section id="scenario" class="card" aria-labelledby="scenario-title">
      <header class="card-head">
        <h2 id="scenario-title">Scenario</h2>
        <button type="button" class="button small" disabled={isBusy || isNormal} onClick={normal}>
          Back to normal
        </button>
      </header>
      <label class="field">
        <span>How this world behaves</span>
        <select
          value={scenario?.chosen === true ? scenario.name : ''}
          disabled={isBusy}
          onChange={(event) => choose(event.currentTarget.value)()}
        >
          <option value="">Active on the server: {scenarios?.in_force ?? '…'}</option>
          {scenario?.chosen === true && !scenarios?.scenarios.some(({ name }) => name === scenario.name) && (
            <option value={scenario.name}>{scenario.name}</option>
          )}
          {scenarios?.scenarios.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {scenario !== null && scenario.description !== '' && <p class="note">{scenario.description}</p>}
      <div class="buttons edits">
        <button
          type="button"
          class="button"
          disabled={isBusy || scenario === null}
          onClick={edit('scenario')}
        >
          Edit as YAML
        </button>
        <button type="button" class="button" disabled={isBusy || scenario === null} onClick={edit('rules')}>
          {top.length === 0 ? 'Add a rule' : 'Edit rules on top'}
        </button>
      </div>
      {edited !== null && (
        <EditorDialog
          live={live}
          title={edited.what === 'rules' ? 'Rules on top of this world' : `Scenario ${scenario?.name ?? ''}`}
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

      <fieldset>
        <legend>Answer payouts with</legend>
        <div class="buttons switches">
          {FAILURE_SWITCHES.map(({ label, rule }) => {
            const isOn = top.some(({ name }) => name === rule.name);
            return (
              <button
                key={label}
                type="button"
                class={isOn ? 'button on' : 'button'}
                aria-pressed={isOn}
                disabled={isBusy}
                onClick={isOn ? switchOff(rule.name) : switchOn(rule)}
              >
                {label}
              </button>
            );
          })}
        </div>
        <label class="field inline">
          <span>Switched on</span>
          <select
            value={times}
            onChange={(event) => setTimes(event.currentTarget.value as keyof typeof TIMES)}
          >
            {Object.entries(TIMES).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </fieldset>
      <Refusal text={refusal} />

      {top.length > 0 && (
        <>
          <h3>On top of this world</h3>
          <ul class="rules">
            {top.map((rule) => (
              <RuleLine key={rule.id} rule={rule}>
                <button type="button" class="button small" disabled={isBusy} onClick={switchOff(rule.name)}>
                  Off<span class="unseen"> {rule.name}</span>
                </button>
              </RuleLine>
            ))}
          </ul>
        </>
      )}
      <h3>Rules of {scenario?.name ?? '…'}</h3>
      {own.length === 0 && <p class="note">None: every payout settles as usual for its mode.</p>}
      <ul class="rules">
        {own.map((rule) => (
          <RuleLine key={rule.id} rule={rule}>
            {null}
          </RuleLine>
        ))}
      </ul>
      {magic.length > 0 && (
        <details>
          <summary>Magic beneficiaries ({magic.length})</summary>
          <ul class="rules">
            {magic.map(({ id, account, description, forEveryPayout, name }) => (
              <li key={id} class="rule">
                <span>
                  <code>{account}</code>
                  <span class="note">{description}</span>
                </span>
                <button
                  type="button"
                  class="button small"
                  disabled={isBusy}
                  title="For every payout, whatever its account"
                  onClick={switchOn(forEveryPayout)}
                >
                  On<span class="unseen"> for every payout: {name}</span>
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
