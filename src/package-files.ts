import { fileURLToPath } from 'node:url';

/**
 * The path of a file or folder that comes with the package. This file stands one step below the package's folder in
 * `src/` and, bundled, in `dist/`: so the same words are right in both.
 */
export const packageFile = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
