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
  '.gz': 'application/gzip', // a copy of another file
};

const files = new Map<string, { readonly type: string; readonly body: Buffer; readonly etag: string }>();

/** The files of the dashboard by their paths, read when they are first asked for, once for all readers; none while it is not built. */
export function pageFiles(): typeof files {
  const folder = packageFile('dist/dashboard/');
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
