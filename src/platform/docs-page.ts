import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { packageFile } from '../package-files.ts';

/** The files of the page, by name, and what they are. The build puts them into `dist`, compressed. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['index.html', 'text/html; charset=utf-8'],
  ['start.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
]);

const plain = promisify(gunzip);

/**
 * A file of the page that shows the OpenAPI document. Read when it is asked for: nobody opens it often.
 *
 * @param isCompressed whether it may come as it is kept, with gzip
 * @returns undefined for what is no file of it
 */
export async function docsFile(
  name: string,
  isCompressed: boolean,
): Promise<{ readonly type: string; readonly bytes: Buffer } | undefined> {
  const type = TYPES.get(name);
  if (type === undefined) return undefined;
  const kept = await readFile(packageFile(`dist/docs/${name}.gz`));
  return { type, bytes: isCompressed ? kept : await plain(kept) };
}
