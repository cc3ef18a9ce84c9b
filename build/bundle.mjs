// Builds `dist`: the program and the library, each package in it that they use, and the library's types.
// `npm run build`; the tests run the same before they begin.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { LAZY, lighterPackages } from './lighter-packages.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');

const common = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  outdir: DIST,
  minify: true,
  charset: 'ascii', // see code-cache.ts
  legalComments: 'none', // THIRD-PARTY-LICENSES.txt has the whole texts
  metafile: true,
  logLevel: 'warning',
};
const asCommonJs = { format: 'cjs', outExtension: { '.js': '.cjs' } };
/** CommonJS has no `import.meta`. */
const banner = { js: "const BUNDLE_URL = require('node:url').pathToFileURL(__filename).href;" };

/** Packages that vite puts into the page. */
const IN_THE_PAGE = ['preact', '@preact/signals', '@preact/signals-core', 'uplot'].map(
  (name) => `node_modules/${name}/package.json`,
);

/** @returns the files that went into the bundle */
async function bundle() {
  const core = await build({
    ...common,
    ...asCommonJs,
    entryPoints: ['src/core.ts'],
    define: { BUNDLED: 'true', 'import.meta.url': 'BUNDLE_URL' },
    banner,
    plugins: [lighterPackages],
  });
  const lazy = await build({
    ...common,
    ...asCommonJs,
    entryPoints: LAZY.map((name) => ({ in: name, out: name })),
  });
  const CORE = join(DIST, 'core.cjs');
  const digest = createHash('sha256').update(readFileSync(CORE)).digest('hex').slice(0, 16);
  await build({
    ...common,
    ...asCommonJs,
    entryPoints: ['src/main.ts'],
    define: { CORE_DIGEST: JSON.stringify(digest), 'import.meta.url': 'BUNDLE_URL' },
    banner,
  });
  const names = Object.keys(createRequire(CORE)(CORE)).filter((name) => name !== 'commandLine');
  writeFileSync(join(DIST, 'index.js'), `export { ${names.toSorted().join(', ')} } from './core.cjs';\n`);
  return [core, lazy].flatMap(({ metafile }) => Object.keys(metafile.inputs));
}

/** The folder of the package that a bundled file belongs to. */
const packageOf = (file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];

/** The license of each package of which something is in the bundle: they ask to be shipped with it. */
function writeLicenses(inputs) {
  const folders = [...new Set(inputs.map(packageOf).filter((folder) => folder !== undefined))];
  const notices = folders.map((folder) => {
    const path = join(ROOT, folder);
    const { name, version, license, author } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const texts = readdirSync(path).filter((file) =>
      /^(licen[cs]e|notice|copying|swagger-ui-bundle\.js\.licen[cs]e)/i.test(file),
    );
    const by = typeof author === 'string' ? author : author?.name;
    const text =
      texts.length > 0
        ? texts.map((file) => readFileSync(join(path, file), 'utf8').trim()).join('\n\n')
        : `Released under ${license}${by ? ` by ${by}` : ''}; the package has no text of its own.`;
    return { name, notice: `${name} ${version} (${license})\n\n${text}` };
  });
  const sorted = notices.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ notice }) => notice);
  const line = `\n\n${'-'.repeat(80)}\n\n`;
  const intro = 'payout-sandbox contains these packages, whole or in part, under these licenses.';
  writeFileSync(join(DIST, 'THIRD-PARTY-LICENSES.txt'), `${[intro, ...sorted].join(line)}\n`);
}

/**
 * The page that shows the OpenAPI document. Compressed, since browsers take it so, and it is the largest thing in `dist`.
 *
 * @returns a file of the package that it is made with
 */
function writeDocsPage() {
  const swagger = 'node_modules/swagger-ui-dist';
  const ours = readdirSync(join(ROOT, 'src/docs')).map((name) => `src/docs/${name}`);
  mkdirSync(join(DIST, 'docs'));
  for (const file of [...ours, `${swagger}/swagger-ui.css`, `${swagger}/swagger-ui-bundle.js`]) {
    writeFileSync(
      join(DIST, 'docs', `${basename(file)}.gz`),
      gzipSync(readFileSync(join(ROOT, file)), { level: 9 }),
    );
  }
  return [`${swagger}/package.json`];
}

/** tsc writes the types of every source file; only those stay that the library's own types need. */
function writeTypes() {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  try {
    execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'pipe' });
  } catch (error) {
    // with errors in the types it has built all the same; `npm run types` tells them
    if (!existsSync(join(DIST, 'index.d.ts'))) throw error;
  }
  const needed = new Set();
  const need = (file) => {
    if (needed.has(file)) return;
    needed.add(file);
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"](\.[^'"]+)['"]/g)) {
      need(resolve(dirname(file), path.replace(/\.[jt]s$/, '.d.ts')));
    }
  };
  need(join(DIST, 'index.d.ts'));
  for (const file of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.d.ts') && !needed.has(join(DIST, file))) rmSync(join(DIST, file));
  }
  for (const entry of readdirSync(DIST, { withFileTypes: true })) {
    const path = join(DIST, entry.name);
    if (entry.isDirectory() && readdirSync(path).length === 0) rmSync(path, { recursive: true });
  }
}

rmSync(DIST, { recursive: true, force: true });
writeLicenses([...(await bundle()), ...IN_THE_PAGE, ...writeDocsPage()]);
writeTypes();
