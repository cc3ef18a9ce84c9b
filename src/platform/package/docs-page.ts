import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { packageFile } from '../../package-files.ts';

/** The files of the page, by name. The build puts them into `dist`, compressed. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['index.html', 'text/html; charset=utf-8'],
  ['start.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
]);

interface DocsFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

const files = new Map<string, DocsFile>();

/**
 * A file of the page that shows the OpenAPI document. It is read when it is first asked for. From then on all readers
 * share one copy, so that connections that ask for it and do not read take no memory.
 *
 * @returns undefined for a name that is none of the page's files
 */
export function docsFile(name: string): DocsFile | undefined {
  const type = TYPES.get(name);
  if (type === undefined) return undefined;
  let file = files.get(name);
  if (file === undefined) {
    const gzip = readFileSync(packageFile(`dist/docs/${name}.gz`));
    file = { type, plain: gunzipSync(gzip), gzip };
    files.set(name, file);
  }
  return file;
}
