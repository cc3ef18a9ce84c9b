import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { packageFile } from '../../package-files.ts';

/** The files of the page, by name. The build puts them into `dist`, compressed. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['index.html', 'text/html; charset=utf-8'],
  ['start.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
]);

/** A file of the page, as it is and with gzip. */
export interface DocsFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

const unzip = promisify(gunzip);

async function read(name: string, type: string): Promise<DocsFile> {
  const gzip = await readFile(packageFile(`dist/docs/${name}.gz`));
  return { type, plain: await unzip(gzip), gzip };
}

const files = new Map<string, Promise<DocsFile>>();

/**
 * A file of the page that shows the OpenAPI document. It is read when it is first asked for. From then on all readers
 * share one copy, so that however many connections ask for it and do not read, they take no memory.
 *
 * @returns undefined for a name that is none of the page's files
 */
export async function docsFile(name: string): Promise<DocsFile | undefined> {
  const type = TYPES.get(name);
  if (type === undefined) return undefined;
  const file = files.get(name) ?? read(name, type);
  files.set(name, file);
  file.catch(() => files.delete(name)); // a page that is built later is found then
  return file;
}
