// What a mutant is: one small change of one piece of code. Each function below says what a node may be changed to.
import ts from 'typescript-5';

const { SyntaxKind } = ts;

const BOUNDARY = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const OPPOSITE = { '<': '>=', '<=': '>', '>': '<=', '>=': '<', '===': '!==', '!==': '===' };
const ARITHMETIC = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' };
const ASSIGNMENT = { '+=': '-=', '-=': '+=', '*=': '/=', '/=': '*=' };
/** Calls that can be left out: `list.filter(f)` becomes `list`. */
const LEFT_OUT = new Set(['filter', 'slice', 'toSorted', 'toReversed', 'trim', 'toLowerCase', 'toUpperCase']);
const SWAPPED = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['floor', 'ceil'],
  ['ceil', 'floor'],
]);

/** A text for people: its wording is free, and tests that matter to users hold it where it is promised. */
const isProse = (text) => /\s/.test(text.trim());

const isCondition = (node) =>
  (ts.isIfStatement(node.parent) && node.parent.expression === node) ||
  (ts.isConditionalExpression(node.parent) && node.parent.condition === node);

const isLoopCondition = (node) =>
  ((ts.isWhileStatement(node.parent) || ts.isDoStatement(node.parent)) && node.parent.expression === node) ||
  (ts.isForStatement(node.parent) && node.parent.condition === node);

const isAssigned = (node) =>
  ts.isBinaryExpression(node.parent) &&
  node.parent.left === node &&
  node.parent.operatorToken.kind === SyntaxKind.EqualsToken;

const isChainLink = (node) =>
  (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node) || ts.isCallExpression(node)) &&
  (node.flags & ts.NodeFlags.OptionalChain) !== 0;

/** True for the whole of `a?.b.c()`, false for the links in it. */
const isWholeChain = (node) =>
  isChainLink(node) && !(isChainLink(node.parent) && node.parent.expression === node);

/** What nothing is mutated in: types, imports, and the words of an assertion. */
export const isOutOfScope = (node) =>
  ts.isTypeNode(node) ||
  ts.isTypeParameterDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isImportDeclaration(node) ||
  ts.isExportDeclaration(node) ||
  (node.parent !== undefined &&
    ts.isCallExpression(node.parent) &&
    node.parent.expression.getText() === 'invariant' &&
    node.parent.arguments[1] === node);

/** Every text that may stand in the place of an expression. */
export function changesOf(node) {
  const text = (part) => part.getText();
  const changes = [];
  if (isCondition(node)) changes.push('true', 'false');
  if (isLoopCondition(node)) changes.push('false');
  if (isWholeChain(node) && !ts.isDeleteExpression(node.parent)) changes.push(...unguarded(node));
  if (ts.isBinaryExpression(node)) changes.push(...changesOfBinary(node));
  else if (ts.isPrefixUnaryExpression(node)) {
    if (node.operator === SyntaxKind.ExclamationToken && !isCondition(node)) changes.push(text(node.operand));
    if (node.operator === SyntaxKind.MinusToken) changes.push(text(node.operand));
  } else if (ts.isNumericLiteral(node) && !isName(node)) {
    const number = Number(node.text);
    changes.push(String(number + 1), String(number - 1));
  } else if (node.kind === SyntaxKind.TrueKeyword) changes.push('false');
  else if (node.kind === SyntaxKind.FalseKeyword) changes.push('true');
  else if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
    if (!isProse(node.text) && !isName(node)) changes.push(node.text === '' ? "'mutated'" : "''");
  } else if (ts.isTemplateExpression(node)) {
    const words = [node.head, ...node.templateSpans.map(({ literal }) => literal)];
    if (!words.some((word) => isProse(word.text))) changes.push("''");
  } else if (ts.isRegularExpressionLiteral(node)) changes.push(...withoutAnchors(text(node)));
  else if (ts.isArrayLiteralExpression(node) && node.elements.length > 0 && !isAssigned(node))
    changes.push('[]');
  else if (ts.isObjectLiteralExpression(node) && node.properties.length > 0 && !isAssigned(node))
    changes.push('{}');
  else if (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    !isChainLink(node)
  ) {
    const { expression: object, name } = node.expression;
    if (LEFT_OUT.has(name.text)) changes.push(text(object));
    const other = SWAPPED.get(name.text);
    if (other !== undefined) {
      const rest = node.getSourceFile().text.slice(name.end, node.end);
      changes.push(`${text(object)}.${other}${rest}`);
    }
  }
  return changes;
}

function changesOfBinary(node) {
  const [left, right] = [node.left.getText(), node.right.getText()];
  const operator = node.operatorToken.getText();
  const changes = [];
  if (operator === '&&' || operator === '||' || operator === '??') changes.push(left, right);
  if (operator === '??=') changes.push(left, `${left} = ${right}`);
  if (operator in BOUNDARY) changes.push(`${left} ${BOUNDARY[operator]} ${right}`);
  // where the whole condition is made true and false, its opposite adds nothing
  if (operator in OPPOSITE && !isCondition(node)) changes.push(`${left} ${OPPOSITE[operator]} ${right}`);
  const isText = [node.left, node.right].some((side) => /^['"`]/.test(side.getText()));
  const other = isText ? undefined : (ARITHMETIC[operator] ?? ASSIGNMENT[operator]);
  if (other !== undefined) changes.push(`${left} ${other} ${right}`);
  return changes;
}

/** The chain with one of its question marks left out, for each. */
function unguarded(chain) {
  const changes = [];
  for (let link = chain; isChainLink(link); link = link.expression) {
    if (link.questionDotToken === undefined) continue;
    const { text } = chain.getSourceFile();
    const [from, to] = [link.questionDotToken.getStart(), link.questionDotToken.end];
    const dot = ts.isPropertyAccessExpression(link) ? '.' : '';
    changes.push(text.slice(chain.getStart(), from) + dot + text.slice(to, chain.end));
  }
  return changes;
}

function withoutAnchors(regex) {
  const changes = [];
  if (regex.startsWith('/^')) changes.push(regex.replace('/^', '/'));
  if (/[^\\]\$\/[a-z]*$/.test(regex)) changes.push(regex.replace(/\$(\/[a-z]*)$/, '$1'));
  return changes;
}

/** The key of a property, not a value. */
const isName = (node) =>
  (ts.isPropertyAssignment(node.parent) || ts.isPropertyDeclaration(node.parent)) &&
  node.parent.name === node;

/** Whether a statement may be left out, and nothing else does the same already. */
export function canBeLeftOut(node) {
  if (ts.isBreakStatement(node) && ts.isCaseOrDefaultClause(node.parent)) return true;
  const isLeaving =
    ts.isReturnStatement(node) ||
    ts.isThrowStatement(node) ||
    ts.isBreakStatement(node) ||
    ts.isContinueStatement(node);
  if (!isLeaving && !ts.isExpressionStatement(node)) return false;
  if (ts.isExpressionStatement(node) && node.expression.getText().startsWith('super(')) return false;
  const block = ts.isBlock(node.parent) ? node.parent : undefined;
  const isAlone = block === undefined || block.statements.length === 1;
  const owner = block === undefined ? node.parent : block.parent;
  // the only statement of an `if` without `else`: the condition is made false as well
  if (isAlone && ts.isIfStatement(owner) && owner.elseStatement === undefined) return false;
  // a function that no longer answers is found by every caller
  const isLast = block !== undefined && block.statements.at(-1) === node && ts.isFunctionLike(owner);
  return !(isLast && (ts.isReturnStatement(node) || ts.isThrowStatement(node)));
}
