import css from './overview.module.css';

const WIDTH = 88;
const HEIGHT = 20;

/** The latest balances as a small line. */
export function BalanceCurve({ values }: { readonly values: readonly number[] }) {
  if (values.length < 2) return null;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const y = (value: number): string =>
    (high === low ? HEIGHT / 2 : 2 + ((HEIGHT - 4) * (high - value)) / (high - low)).toFixed(1);
  const points = values.map(
    (value, index) => `${((index * WIDTH) / (values.length - 1)).toFixed(1)},${y(value)}`,
  );
  return (
    <svg class={css.spark} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <polyline points={points.join(' ')} />
    </svg>
  );
}
