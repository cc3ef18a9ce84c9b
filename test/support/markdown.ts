/** The rows of the table below a heading, each as a list of cells without backticks and links. */
export const tableUnder = (page: string, heading: string): string[][] =>
  tableIn(page.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!);

/** A text without the marks for code and without the targets of its links. */
const plain = (text: string): string => text.replaceAll('`', '').replaceAll(/\[(.*?)\]\(.*?\)/g, '$1');

/** The rows of the table in a text. */
export function tableIn(text: string): string[][] {
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => plain(cell.trim())),
  );
}

/** The items of the lists under a heading of a page: what is before the first colon, and what is after it. */
export function listUnder(page: string, heading: string): [name: string, text: string][] {
  const section = page.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  return [...section.matchAll(/^- (.*(?:\n {2}.*)*)/gm)].map(([, item]) => {
    const [, name, text] = /^(.*?): (.*)$/.exec(plain(item!).replaceAll(/\s+/g, ' '))!;
    return [name!, text!];
  });
}

interface ShellCommand {
  readonly shell: string;
  /** The response that is shown below it. */
  readonly answer: string | undefined;
}

/** The shell commands of a page that start with `command`. */
export function commandsOf(page: string, command: string): readonly ShellCommand[] {
  const blocks = page.matchAll(/```sh\n(.*?)```(?:\n\n```json\n(.*?)\n```)?/gs);
  return [...blocks]
    .map(([, shell, answer]) => ({ shell: shell!, answer }))
    .filter(({ shell }) => shell.startsWith(command));
}

/** What a part of docs/errors.md says of each error, in its order. An example of the message is undefined where there is none. */
export function errorsIn(page: string, part: string) {
  const section = page.split(`\n## ${part}\n`)[1]!.split('\n## ')[0]!;
  return [...section.matchAll(/^- (.*(?:\n {2}.*)*)/gm)].map(([, item]) => {
    const text = item!.replaceAll(/\s+/g, ' ');
    const [, code, status, message] = /^\*\*(\w+)\*\* \((\d+), "(.*?)"\): /.exec(text)!;
    return {
      code: code!,
      status: Number(status),
      message: message!,
      example: /Example: "(.*)"$/.exec(text)?.[1],
    };
  });
}

/** What a viewer makes of a heading, to link to it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
