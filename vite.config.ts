import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** Writes a compressed copy beside each script and style, which the server sends to whoever accepts it. Fonts are compressed already. */
const compressed: Plugin = {
  name: 'compressed',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      for (const [name, file] of Object.entries(bundle)) {
        if (!/\.(?:js|css)$/.test(name)) continue;
        const source = gzipSync(file.type === 'chunk' ? file.code : file.source, { level: 9 });
        this.emitFile({ type: 'asset', fileName: `${name}.gz`, source });
      }
    },
  },
};

/** The page at /_sandbox/: built into the package, so that it needs neither a build nor a network where it runs. */
export default defineConfig({
  root: 'src/dashboard',
  base: './', // wherever a proxy puts the sandbox
  publicDir: false,
  plugins: [compressed],
  build: {
    outDir: '../../dist/dashboard',
    emptyOutDir: true,
    target: ['chrome123', 'firefox120', 'safari17.5'], // the first with light-dark()
    modulePreload: false, // one script: there is nothing to load ahead
    assetsInlineLimit: 0, // the page's own policy forbids inline scripts and styles
    reportCompressedSize: false,
    rolldownOptions: { checks: { bundlerTimings: false } }, // a slow machine is no reason for a warning
  },
});
