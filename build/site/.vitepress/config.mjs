// The pages of docs as a site with a search: .ci/check-site builds it. docs/README.md says what belongs together, and in which order.
import { readFileSync } from 'node:fs';

const docs = new URL('../../../docs', import.meta.url);
const overview = readFileSync(`${docs.pathname}/README.md`, 'utf8');

/** The first heading of a page, up to a colon. */
const titleOf = (page) => /^# ([^:\n]+)/.exec(readFileSync(`${docs.pathname}/${page}`, 'utf8'))[1];

/** The pages that a part of docs/README.md lists. */
const itemsOf = (part) =>
  [...part.matchAll(/^\| \[[^\]]+\]\(([^)#]+)\.md\)/gm)].map(([, path]) => ({
    text: titleOf(`${path}.md`),
    link: `/${path.replace(/README$/, '')}`,
  }));

/** Texts in code are shown as they are, also `{{amount}}`, which Vue would take for its own. */
function showBraces(md) {
  const render = md.renderer.rules.code_inline;
  md.renderer.rules.code_inline = (...args) => render(...args).replaceAll('{{', '&#123;&#123;');
}

export default {
  title: 'Payout sandbox',
  description: 'A local stand-in for an Indian payout API',
  srcDir: '../../docs',
  outDir: '../../site',
  cacheDir: '../../node_modules/.vitepress',
  rewrites: (page) => page.replace(/README\.md$/, 'index.md'),
  ignoreDeadLinks: [/\.\w+$/, /\.\.\//], // files beside the pages, and those above docs: a test checks them all
  vite: { publicDir: docs.pathname }, // the files of the recipes
  markdown: { config: showBraces },
  cleanUrls: true,
  themeConfig: {
    search: { provider: 'local' },
    outline: 'deep',
    sidebar: overview
      .split(/^#+ /m)
      .slice(1)
      .map((part) => ({ text: part.split('\n')[0], items: itemsOf(part) })),
  },
};
