import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The details of a row, next to the list or, on a narrow page, instead of it. Escape closes them. */
export function DetailPane({ title, onClose, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    heading.current?.scrollIntoView({ block: 'nearest' }); // and only as far as needed to show it
  }, [title]);
  return (
    <div
      class="detail"
      role="region"
      aria-label={title}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <header>
        <h3 tabIndex={-1} ref={heading}>
          {title}
        </h3>
        <button type="button" class="button small" onClick={onClose}>
          Close
        </button>
      </header>
      <div class="detail-body">{children}</div>
    </div>
  );
}
