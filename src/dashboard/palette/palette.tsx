import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hide } from '../shell/overlay.ts';
import { useLive } from '../store/current-world.ts';
import { Foreign } from '../ui/marks.tsx';
import { commandsFor, type Command } from './palette-commands.ts';
import css from './palette.module.css';

export function Palette() {
  const live = useLive();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  useLayoutEffect(() => dialog.current!.showModal(), []);
  const commands = commandsFor(live, text);
  const chosen = Math.min(active, commands.length - 1);
  useEffect(
    () => document.getElementById(`command-${chosen}`)?.scrollIntoView({ block: 'nearest' }),
    [chosen],
  );
  const carryOut = ({ act, typed = text }: Command): void => {
    if (act === undefined) return setText(typed);
    hide();
    act();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setActive(Math.min(chosen + 1, commands.length - 1));
    else if (event.key === 'ArrowUp') setActive(Math.max(0, chosen - 1));
    else if (event.key === 'Enter' && commands[chosen] !== undefined) carryOut(commands[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class={css.palette}
      aria-label="Commands"
      onClose={() => dialog.current && hide('palette')}
    >
      <input
        role="combobox"
        aria-label="Command"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={commands.length === 0 ? undefined : `command-${chosen}`}
        autoComplete="off"
        spellcheck={false}
        placeholder="pay 5000 to 9999100500 · advance 3d · next initiate 500 after payout · risk"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="commands" role="listbox" aria-label="Commands">
        {commands.map((command, nth) => (
          <li
            key={`${command.title} ${nth}`}
            id={`command-${nth}`}
            role="option"
            aria-selected={nth === chosen}
            onClick={() => carryOut(command)}
          >
            <Foreign text={command.title} /> <span class="dim">{command.note}</span>
          </li>
        ))}
      </ul>
      {commands.length === 0 && (
        <p class="note" role="status">
          No match. Try “pay 5000”, “advance 3d” or a reference.
        </p>
      )}
    </dialog>
  );
}
