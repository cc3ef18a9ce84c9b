// All mutants of a file, and the file with all of them in it at once, each asleep until it is called by its number.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-5';
import { canBeLeftOut, changesOf, isOutOfScope } from './mutators.mjs';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What is mutated: all of the two rooms that decide about money. */
export const FILES = ['src/domain', 'src/ledger'].flatMap((folder) =>
  readdirSync(`${ROOT}${folder}`)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`)
    .toSorted(),
);

/** Where a mutant is, in words that stay true when lines move: `WorldBook.perform`. */
function placeOf(node) {
  const names = [];
  for (let at = node.parent; at !== undefined; at = at.parent) {
    const isNamed =
      ts.isClassDeclaration(at) ||
      ts.isFunctionDeclaration(at) ||
      ts.isMethodDeclaration(at) ||
      ts.isGetAccessor(at) ||
      (ts.isVariableDeclaration(at) && ts.isSourceFile(at.parent.parent.parent)) ||
      (ts.isPropertyDeclaration(at) && ts.isClassDeclaration(at.parent));
    if (isNamed) names.unshift(at.name.getText());
    if (ts.isConstructorDeclaration(at)) names.unshift('constructor');
  }
  return names.join('.');
}

const onOneLine = (text) => text.replaceAll(/\s+/g, ' ');

/** The code of a file with its mutants in it. @returns the mutants by their keys, and the code */
export function withMutants(file, firstNumber) {
  const source = ts.createSourceFile(file, readFileSync(ROOT + file, 'utf8'), ts.ScriptTarget.Latest, true);
  const mutants = [];
  const times = new Map();

  const added = (node, to) => {
    const [place, from] = [placeOf(node), onOneLine(node.getText())];
    const key = `${file} | ${place} | ${from} | ${onOneLine(to)}`;
    const nth = (times.get(key) ?? 0) + 1;
    times.set(key, nth);
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    const number = firstNumber + mutants.length;
    mutants.push({
      number,
      key: nth === 1 ? key : `${key} | ${nth}`,
      file,
      place,
      line,
      from,
      to: onOneLine(to),
      nth,
    });
    return number;
  };

  const written = (node) => {
    if (isOutOfScope(node)) return node.getText();
    // asked before its children, so that numbers go as one reads
    const isStatement = canBeLeftOut(node);
    const leftOut = isStatement ? added(node, '') : null;
    const changes = ts.isExpression(node) ? changesOf(node).map((to) => [added(node, to), to]) : [];
    let code = '';
    let at = node.getStart();
    ts.forEachChild(node, (child) => {
      code += source.text.slice(at, child.getStart()) + written(child);
      at = child.end;
    });
    code += source.text.slice(at, node.end);
    if (leftOut !== null) code = `{ if (!mutation.at(${leftOut})) { ${code} } }`;
    const isLoopBody = node.parent?.statement === node && ts.isIterationStatement(node.parent, false);
    if (isLoopBody) return `{ mutation.turn(); ${code} }`;
    if (changes.length === 0) return code;
    return `(${changes.map(([number, to]) => `mutation.at(${number}) ? (${to}) : `).join('')}(${code}))`;
  };
  return { mutants, code: written(source) };
}

/** All mutants of all files, numbered from 1. */
export function allMutants() {
  const mutants = [];
  for (const file of FILES) mutants.push(...withMutants(file, mutants.length + 1).mutants);
  return mutants;
}

/** Writes the code with all mutants down, so that a change of a file during a run changes nothing. */
export function writeMutated(folder) {
  const files = {};
  let number = 1;
  for (const file of FILES) {
    const { mutants, code } = withMutants(file, number);
    files[ROOT + file] = code;
    number += mutants.length;
  }
  writeFileSync(`${folder}mutated.json`, JSON.stringify(files));
}
