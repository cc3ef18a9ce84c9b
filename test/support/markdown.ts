/** The rows of the table below a heading, each as its cells, without the code marks. */
export function tableUnder(page: string, heading: string): string[][] {
  const section = page.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

interface ShellCommand {
  readonly shell: string;
  /** The answer that is shown below it. */
  readonly answer: string | undefined;
}

/** The shell commands of a page that start with `command`. */
export function commandsOf(page: string, command: string): readonly ShellCommand[] {
  const blocks = page.matchAll(/```sh\n(.*?)```(?:\n\n```json\n(.*?)\n```)?/gs);
  return [...blocks]
    .map(([, shell, answer]) => ({ shell: shell!, answer }))
    .filter(({ shell }) => shell.startsWith(command));
}
