import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { MAIN, runInProcess } from '../support/program.ts';
import { isLong } from '../support/size.ts';
import { testRows } from '../support/test-rows.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** What is typed, the last word unfinished, and what can stand there. */
const TYPED: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
  [['rul'], ['rule']],
  [
    ['rule', ''],
    ['list', 'add', 'remove', 'from'],
  ],
  [['unfreeze', '--ur'], ['--url']],
  [
    ['pay', '--mode', ''],
    ['IMPS', 'NEFT', 'RTGS', 'UPI'],
  ],
  [
    ['rule', 'list', '--from', ''],
    ['world', 'scenario', 'magic'],
  ],
  [
    ['use', 'timeout'],
    ['timeout-after-commit', 'timeout-before-commit'],
  ],
  [
    ['referee', '--fail-on', ''],
    ['error', 'warning', 'notice', 'never'],
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['use', 'lost-'], ['lost-response']],
  [['pay', '1500', '--reference', ''], []],
];
/** For each the shell starts the program. */
const ASKED = TYPED.filter((_typed, nth) => isLong || nth === 0 || nth === TYPED.length - 1);

/** How a shell is asked what it offers for these words: one line, in which words are separated by spaces. */
const QUESTIONS: Readonly<Record<string, (words: readonly string[]) => string>> = {
  bash: (words) =>
    `COMP_WORDS=(payout-sandbox ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _payout_sandbox; echo "\${COMPREPLY[*]}"`,
  // zsh itself leaves out the words that do not begin with what is typed
  zsh: (words) =>
    `words=(payout-sandbox ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}; offered=(); _payout_sandbox; print -r -- \${(M)offered:#${words.at(-1)}*}`,
  fish: (words) => `echo (complete -C 'payout-sandbox ${words.join(' ')}' | string replace -r '\\t.*' '')`,
};

/** How a shell starts without the files of its user, and what stands for the functions that zsh has only in a completion. */
const SHELLS: Readonly<Record<string, { readonly flags: readonly string[]; readonly before: string }>> = {
  bash: { flags: ['--norc'], before: '' },
  zsh: {
    flags: ['-f'],
    before: 'compdef() { : }; _files() { : }; compadd() { shift; offered+=($@) };',
  },
  fish: { flags: ['--no-config'], before: '' },
};

test.each(Object.keys(SHELLS).filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0))(
  'completion %s offers what the program completes',
  async (shell) => {
    const { code, stdout: script } = await runInProcess(['completion', shell]);
    expect(code).toBe(0);
    const questions = ASKED.map(([words]) => QUESTIONS[shell]!(words));
    const { flags, before } = SHELLS[shell]!;
    const commands = [before, script, ...questions].join('\n');
    const [folder, empty] = [temporaryFolder(), temporaryFolder()]; // fish offers files everywhere
    const program = join(folder, 'payout-sandbox');
    writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`, { mode: 0o755 });
    const PATH = `${folder}:${process.env['PATH']}`;
    const env = { PATH, SANDBOX_SCENARIOS: resolve('fixtures/init/scenarios') };
    const ended = spawnSync(shell, [...flags, '-c', commands], { encoding: 'utf8', env, cwd: empty });
    const { stdout, stderr } = ended;
    expect(stderr).toBe('');
    const offered = stdout.split('\n').map((line) => line.split(' ').filter((word) => word !== ''));
    expect(offered.slice(0, -1).map((words) => new Set(words))).toEqual(
      ASKED.map(([, words]) => new Set(words)),
    );
  },
);

testRows(TYPED)(
  'the program completes commands, flags, values of flags and names of scenarios',
  async (words, offered) => {
    const environment = { SANDBOX_SCENARIOS: 'fixtures/init/scenarios' };
    const { stdout } = await runInProcess(['completion', 'bash', '--', ...words], environment);
    const begun = stdout.split('\n').filter((word) => word !== '' && word.startsWith(words.at(-1)!));
    expect(new Set(begun)).toEqual(new Set(offered));
  },
);
