// Says what became of the mutants, and holds the survivors against the list of those that nobody can kill.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const keyOf = ({ file, in: place, from, to, nth = 1 }) =>
  `${file} | ${place} | ${from} | ${to}${nth === 1 ? '' : ` | ${nth}`}`;

const say = (line) => process.stdout.write(`${line}\n`);
const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;

/** @returns whether all is well: no survivor that is not on the list, and nothing on the list that is not in the code */
export function report(all, asked, results, root) {
  const listed = parse(readFileSync(`${root}test/mutation/survivors.yaml`, 'utf8')) ?? [];
  const reasons = new Map(listed.map((entry) => [keyOf(entry), entry.why]));
  const known = new Set(all.map(({ key }) => key));
  const isKilled = ({ key }) => results[key]?.how !== undefined;

  const files = new Map();
  for (const mutant of asked) files.set(mutant.file, [...(files.get(mutant.file) ?? []), mutant]);
  const rows = [...files].map(([file, mutants]) => ({
    file,
    mutants: mutants.length,
    killed: mutants.filter(isKilled).length,
    equivalent: mutants.filter((mutant) => !isKilled(mutant) && reasons.has(mutant.key)).length,
  }));
  const sum = (column) => rows.reduce((total, row) => total + row[column], 0);
  const total = {
    file: 'all',
    mutants: sum('mutants'),
    killed: sum('killed'),
    equivalent: sum('equivalent'),
  };
  say('| file | mutants | killed | | survivors, of them explained |\n| --- | --: | --: | --: | --- |');
  for (const { file, mutants, killed, equivalent } of [...rows, total])
    say(
      `| ${file.replace('src/', '')} | ${mutants} | ${killed} | ${percent(killed, mutants)} | ${mutants - killed}, ${equivalent} |`,
    );

  const unexplained = asked.filter((mutant) => !isKilled(mutant) && !reasons.has(mutant.key));
  for (const { key, line } of unexplained)
    say(`survived${results[key]?.isMet ? '' : ', no test meets it'}: ${key} (line ${line})`);
  for (const { key } of asked.filter((mutant) => isKilled(mutant) && reasons.has(mutant.key)))
    say(`on the list, and killed now by "${results[key].test}": ${key}`);
  const gone = [...reasons.keys()].filter((key) => !known.has(key));
  for (const key of gone) say(`on the list, and not in the code any more: ${key}`);
  const nameless = listed.filter(({ why }) => !why?.trim());
  for (const entry of nameless) say(`on the list without a reason: ${keyOf(entry)}`);
  return unexplained.length + gone.length + nameless.length === 0;
}
