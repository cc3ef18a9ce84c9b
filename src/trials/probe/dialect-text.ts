import type { LearnedDialect } from './learned-dialect.ts';

const LINE = 130;

/** A text for one line of a comment, without line breaks. */
function comment(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length <= LINE ? line : `${line.slice(0, LINE)}…`;
}

/** null in quotes, since YAML does not read a bare null as text. */
const valueText = (value: string | number): string => (value === 'null' ? "'null'" : String(value));

/** What a probe has learned, as a file for `serve --dialect FILE`: each row with its evidence, or why it is not known. */
export function dialectText(learned: LearnedDialect, description: string): string {
  const lines = [`description: ${JSON.stringify(description)}`];
  let part = '';
  let pending: string[] = [];
  const endPart = (): void => {
    const isEmpty = pending.every((line) => line.trimStart().startsWith('#'));
    if (part !== '') lines.push(isEmpty ? `${part}: {}` : `${part}:`, ...pending);
    pending = [];
  };
  for (const [row, learnedRow] of learned.all) {
    const [section = '', name = ''] = row.split('.');
    if (section !== part) endPart();
    part = section;
    pending.push(
      learnedRow.value === null
        ? `  # ${name} not learned: ${comment(learnedRow.why)}`
        : `  ${name}: ${valueText(learnedRow.value)} # ${comment(learnedRow.evidence)}`,
    );
  }
  endPart();
  return `${lines.join('\n')}\n`;
}
