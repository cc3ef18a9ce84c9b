import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import { Foreign } from '../ui/marks.tsx';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The opened item, beside its list or, on a narrow page, instead of it. Escape closes it. */
export function Panel({ title, onClose, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const body = useRef<HTMLDivElement>(null);
  // at once: the next key may be meant for what it moves the focus to
  useLayoutEffect(() => {
    heading.current!.focus({ preventScroll: true });
    body.current!.scrollTop = 0;
  }, [title]);
  return (
    <div class="panel" role="region" aria-label={title}>
      <header>
        <h3 tabIndex={-1} ref={heading}>
          <Foreign text={title} />
        </h3>
        <Button kind="small" isLocal act={onClose}>
          Close
        </Button>
      </header>
      <div class="panel-body" ref={body}>
        {children}
      </div>
    </div>
  );
}
