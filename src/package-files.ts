import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The package's folder: the nearest one above this code that has its fixtures, from `src` as well as from `dist`. */
function packageFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'fixtures/scenario.schema.json'))) {
    if (folder === dirname(folder)) {
      throw new Error(
        `payout-sandbox needs its whole package: there are no fixtures above ${import.meta.dirname}`,
      );
    }
    folder = dirname(folder);
  }
  return folder;
}

const FOLDER = packageFolder();

/** The path of a file or folder that comes with the package. */
export const packageFile = (path: string): string => join(FOLDER, path);

export const packageText = (path: string): string => readFileSync(packageFile(path), 'utf8');

export const packageVersion = (): string =>
  (JSON.parse(packageText('package.json')) as { version: string }).version;
