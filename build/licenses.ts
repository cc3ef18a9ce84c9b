import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rolldown } from 'tsdown';

const LICENSE_FILE = /^(licen[cs]e|notice|copying)/i;

/** The folder of the package that a bundled file belongs to. */
const packageOf = (file: string): string | undefined =>
  /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly author?: string | { readonly name: string };
}

function notice(folder: string): string {
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Manifest;
  const texts = readdirSync(folder)
    .filter((file) => LICENSE_FILE.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const by = typeof author === 'string' ? author : author?.name;
  const without = `Released under ${license}${by ? ` by ${by}` : ''}; the package has no text of its own.`;
  return `${name} ${version} (${license})\n\n${texts.length > 0 ? texts.join('\n\n') : without}`;
}

/**
 * Writes THIRD-PARTY-LICENSES.txt: the license of each package of which something is in the bundle, as they ask for.
 *
 * @param others packages that are shipped, but not in this bundle
 */
export function licenses(others: readonly string[]): Rolldown.Plugin {
  return {
    name: 'licenses',
    generateBundle(_options, bundle) {
      const files = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
      const folders = [...files.map(packageOf), ...others.map((name) => `node_modules/${name}`)];
      const notices = [...new Set(folders)].filter((folder) => folder !== undefined).map(notice);
      const intro = 'payout-sandbox contains these packages, whole or in part, under these licenses.';
      const source = `${[intro, ...notices.toSorted()].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source });
    },
  };
}
