import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rolldown } from 'tsdown';

const LICENSE_FILE = /^(licen[cs]e|notice|copying)/i;

const FONT = 'src/dashboard/ui/inter-license.txt';

/** The folder of the package that a bundled file belongs to. */
const packageOf = (file: string): string | undefined =>
  /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly author?: string | { readonly name: string };
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

function notice(folder: string): string {
  const { name, version, license, author } = manifestOf(folder);
  const texts = readdirSync(folder)
    .filter((file) => LICENSE_FILE.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const by = typeof author === 'string' ? author : author?.name;
  const without = `Released under ${license}${by ? ` by ${by}` : ''}; the package has no text of its own.`;
  return `${name} ${version} (${license})\n\n${texts.length > 0 ? texts.join('\n\n') : without}`;
}

/** A package as CycloneDX has it, with the identifier that scanners look up. */
function component(type: 'application' | 'library', folder: string) {
  const { name, version, license } = manifestOf(folder);
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type, 'bom-ref': purl, name, version, purl, licenses: [{ expression: license }] };
}

/**
 * Writes which packages have something in the bundle: sbom.cdx.json for scanners, and THIRD-PARTY-LICENSES.txt, as the licenses ask for.
 * `npm sbom` would list what is installed to build and test, too.
 *
 * @param others packages that are shipped, but not in this bundle
 */
export function bundledPackages(others: readonly string[]): Rolldown.Plugin {
  return {
    name: 'bundled-packages',
    generateBundle(_options, bundle) {
      const files = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
      const all = [...files.map(packageOf), ...others.map((name) => `node_modules/${name}`)];
      const folders = [...new Set(all)].filter((folder) => folder !== undefined).toSorted();
      const intro = 'payout-sandbox contains these packages, whole or in part, under these licenses.';
      const texts = [intro, ...folders.map(notice).toSorted(), readFileSync(FONT, 'utf8').trim()].join(
        `\n\n${'-'.repeat(80)}\n\n`,
      );
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source: `${texts}\n` });
      const sbom = {
        bomFormat: 'CycloneDX',
        specVersion: '1.5',
        version: 1,
        metadata: { component: component('application', '.') },
        components: folders.map((folder) => component('library', folder)),
      };
      this.emitFile({
        type: 'asset',
        fileName: 'sbom.cdx.json',
        source: `${JSON.stringify(sbom, null, 1)}\n`,
      });
    },
  };
}
