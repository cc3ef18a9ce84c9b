import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The package's folder: the nearest one above this code that has a package.json, from `src` as well as from `dist`. */
function packageFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

const FOLDER = packageFolder();

/** The path of a file or folder that comes with the package. */
export const packageFile = (path: string): string => join(FOLDER, path);
