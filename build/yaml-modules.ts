import { parse } from 'yaml';

/** Reads YAML files that modules import when these are built, for Rolldown and Vite: the program reads no text for them. */
export const yamlModules = () => ({
  name: 'yaml-modules',
  transform(text: string, file: string) {
    if (!file.endsWith('.yaml')) return null;
    return { code: `export default ${JSON.stringify(parse(text))}`, map: null, moduleType: 'js' as const };
  },
});
