import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageFile } from '../package-files.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const typeOf = (path: string): string | undefined => TYPES[extname(path)];

const dashboard = new Map<string, { readonly type: string; readonly body: Buffer; readonly etag: string }>();

/** The files of the dashboard by their path, read when they are first asked for; none while it is not built. */
export function dashboardFiles(): typeof dashboard {
  const folder = packageFile('dist/dashboard/');
  if (dashboard.size > 0 || !existsSync(folder)) return dashboard;
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = typeOf(path);
    if (type === undefined) continue;
    const body = readFileSync(join(folder, path));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    dashboard.set(path.replaceAll('\\', '/'), { type, body, etag });
  }
  return dashboard;
}

/** The files of the page that shows the OpenAPI document. The build puts them into `dist`, compressed. */
const DOCS = new Set(['index.html', 'start.js', 'swagger-ui.css', 'swagger-ui-bundle.js']);

const docs = new Map<string, { readonly type: string; readonly plain: Buffer; readonly gzip: Buffer }>();

/** Reads a file of that page once. All readers share one copy, so connections that do not read it take no memory. */
export async function docsFile(name: string) {
  const type = DOCS.has(name) ? typeOf(name) : undefined;
  if (type === undefined || docs.has(name)) return docs.get(name);
  const gzip = await readFile(packageFile(`dist/docs/${name}.gz`));
  docs.set(name, { type, plain: gunzipSync(gzip), gzip });
  return docs.get(name);
}
