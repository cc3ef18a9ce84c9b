import css from './overview.module.css';

const WIDTH = 88;
const HEIGHT = 20;

/** The latest balances as a small line. */
export function BalanceCurve({ values }: { readonly values: readonly number[] }) {
  if (values.length < 2) return null;
  const step = Math.max(1, Math.floor(values.length / WIDTH));
  const shown = values.filter((_, index) => index % step === 0 || index === values.length - 1);
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  const y = (value: number): string =>
    (high === low ? HEIGHT / 2 : 2 + ((HEIGHT - 4) * (high - value)) / (high - low)).toFixed(1);
  const points = shown.map(
    (value, index) => `${((index * WIDTH) / (shown.length - 1)).toFixed(1)},${y(value)}`,
  );
  return (
    <svg class={css.spark} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <polyline points={points.join(' ')} />
    </svg>
  );
}
