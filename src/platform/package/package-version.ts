import { readFileSync } from 'node:fs';
import { packageFile } from '../../package-files.ts';

/** The version of this package. */
export const packageVersion = (): string => {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
};
