/** The tests that ask the domain directly: they fail soonest, and say most. */
const FIRST = [
  'ledger-index',
  'ledger-heap',
  'ledger-queue',
  'ledger-texts',
  'ledger-pages',
  'money-asserts',
  'book-audit',
  'history',
  'facts',
  'book-lists',
  'ledger',
  'world',
  'settlement',
  'rails',
  'rule-match',
  'attempts',
  'nesting',
  'journal',
  'verify',
];
const LAST_RANK = FIRST.length;

/** Where a test file stands in the order: from 0 to LAST_RANK. */
export function rankOf(file) {
  const rank = FIRST.findIndex((name) => file.split('/').at(-1).startsWith(name));
  return rank === -1 ? LAST_RANK : rank;
}

/** As many tests as the budget allows: those of the domain, then one of each other file in turn, the quickest first. */
export function chosen(tests, budgetMs) {
  const quickestFirst = tests.toSorted((a, b) => a.ms - b.ms);
  const turns = new Map();
  const ranked = quickestFirst.map((test) => {
    const turn = turns.get(test.file) ?? 0;
    turns.set(test.file, turn + 1);
    const rank = rankOf(test.file);
    return { test, order: rank < LAST_RANK ? rank : LAST_RANK + turn };
  });
  const taken = [];
  let ms = 0;
  for (const { test } of ranked.toSorted((a, b) => a.order - b.order)) {
    if (taken.length > 0 && ms + test.ms > budgetMs) continue;
    taken.push(test);
    ms += test.ms;
  }
  return taken;
}
