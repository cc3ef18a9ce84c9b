import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** The inner width and height of an element, in px; 0 before it is laid out. */
export function useSize(box: RefObject<HTMLElement | null>) {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = box.current!;
    const measure = (): void => setSize({ width: element.clientWidth, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return size;
}
