import { useState } from 'preact/hooks';

interface Props {
  readonly label: string;
  readonly text: () => string;
}

const SHOWN_MS = 1500;

/** Copies a text and confirms it. */
export function CopyButton({ label, text }: Props) {
  const [said, setSaid] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      setSaid('Copied');
    } catch {
      setSaid('Copy it by hand'); // browsers offer no clipboard to a page without HTTPS, except on localhost
    }
    setTimeout(() => setSaid(''), SHOWN_MS);
  };
  return (
    <button type="button" class="button small" onClick={() => void copy()}>
      <span aria-live="polite">{said === '' ? label : said}</span>
    </button>
  );
}
