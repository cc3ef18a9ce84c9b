import { textReport } from '../../src/cli/scenario-files.ts';

/** The lines that `validate` prints for the text of a file, without its name. */
export const validated = (text: string): readonly string[] =>
  textReport('my.yaml', text).lines.map((line) => line.replace(/^my\.yaml(: |:| )/, ''));
