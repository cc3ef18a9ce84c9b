import { parse } from 'yaml';
import { scenarioShape } from '../src/scenario/scenario.ts';

/** Reads scenarios in YAML that modules import when these are built, for Rolldown and Vite: the program reads and checks no text for them. */
export const yamlModules = () => ({
  name: 'yaml-modules',
  transform(text: string, file: string) {
    if (!file.endsWith('.yaml')) return null;
    const document: unknown = parse(text);
    const shape = scenarioShape(document);
    const code = `export default ${JSON.stringify(document)}; export const shape = ${JSON.stringify(shape)}`;
    return { code, map: null, moduleType: 'js' as const };
  },
});
