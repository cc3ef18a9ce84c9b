import { defineConfig } from 'vite';

/** The page at /_sandbox/: built into the package, so that it needs neither a build nor a network where it runs. */
export default defineConfig({
  root: 'src/dashboard',
  base: './', // wherever a proxy puts the sandbox
  publicDir: false,
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
