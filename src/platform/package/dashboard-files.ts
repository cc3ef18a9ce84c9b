import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { packageFile } from '../../package-files.ts';

interface DashboardFile {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

/** Where `npm run build` puts it. */
const BUILT = packageFile('dist/dashboard/');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

function readAll(): ReadonlyMap<string, DashboardFile> {
  if (!existsSync(BUILT)) return new Map();
  const paths = readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter(
    (path) => extname(path) in TYPES,
  );
  return new Map(
    paths.map((path) => {
      const body = readFileSync(join(BUILT, path));
      const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
      return [path.replaceAll('\\', '/'), { type: TYPES[extname(path)]!, body, etag }];
    }),
  );
}

/** The files of the page, read from the disk when they are first asked for and kept from then on. */
export function dashboardFiles(): () => ReadonlyMap<string, DashboardFile> {
  let files: ReadonlyMap<string, DashboardFile> = new Map();
  return () => {
    if (files.size === 0) files = readAll(); // a page that is built later is found then
    return files;
  };
}
