import { action } from '../../actions/sandbox-action.ts';
import { document } from '../../actions/arguments.ts';
import { validateText } from '../scenario-files/validate.ts';

/** `validate` for an agent, whose scenario is in no file. */
export const validateTool = action({
  name: 'validate',
  summary: 'check a scenario without using it: every error with its line, and warnings of what never applies',
  effect: 'reads',
  scope: 'nothing',
  input: { scenario: document('the scenario as YAML or JSON') },
  async run({ scenario }, { texts }) {
    const { name, text } = texts.read('validate', scenario);
    return validateText(text, name);
  },
  lines: (report) => report.split('\n'),
});
