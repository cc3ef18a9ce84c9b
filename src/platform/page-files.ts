import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { packageFile } from '../package-files.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

type PageFiles = Map<string, { readonly type: string; readonly body: Buffer; readonly etag: string }>;

const pages = { dashboard: new Map() as PageFiles, docs: new Map() as PageFiles };

/** The files of a page by their paths, read when they are first asked for, once for all readers; none while it is not built. */
export function pageFiles(page: keyof typeof pages): PageFiles {
  const folder = packageFile(`dist/${page}/`);
  const files = pages[page];
  if (files.size > 0 || !existsSync(folder)) return files;
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[extname(path)];
    if (type === undefined) continue;
    const body = readFileSync(join(folder, path));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    files.set(path.replaceAll('\\', '/'), { type, body, etag });
  }
  return files;
}
