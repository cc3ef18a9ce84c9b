/** The geometry of the balance chart: pure functions of the balances and the width. */

const COUNT_OF_TICKS = 4;
/** From this share of the highest balance on, changes are large enough to be visible on an axis that starts at ₹0. */
const VISIBLE_FROM_ZERO = 0.4;
const ROOM_ABOVE = 1.1;
const PAISA = 0.01;
const LAKH = 1e5;
const CRORE = 1e7;

export interface BalanceAxis {
  readonly from: number;
  readonly to: number;
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
}

/** 1, 2, 2.5 or 5 times a power of ten. */
function roundStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  return power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= atLeast * (1 - 1e-9))!;
}

/** How many decimals show each multiple of a step; 3 stands for more than 2. */
const decimalsOf = (step: number): number =>
  [0, 1, 2].find((decimals) => {
    const shown = step * 10 ** decimals;
    return Math.round(shown) > 0 && Math.abs(shown - Math.round(shown)) < 1e-6;
  }) ?? 3;

/** Labels that differ from each other: in lakh or crore where two decimals are enough, otherwise in full. */
function labelsOf(values: readonly number[], step: number): readonly string[] {
  const most = values.at(-1)!;
  const [unit, suffix] = most >= CRORE ? [CRORE, 'Cr'] : most >= LAKH ? [LAKH, 'L'] : [1, ''];
  const isShort = decimalsOf(step / unit) <= 2;
  const [divisor, ending] = isShort ? [unit, suffix] : [1, ''];
  const decimals = decimalsOf(step / divisor) === 1 && divisor === 1 ? 2 : decimalsOf(step / divisor);
  const format = new Intl.NumberFormat('en-IN', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return values.map((value) => (value === 0 ? '₹0' : `₹${format.format(value / divisor)}${ending}`));
}

/** The axis of the balances: from ₹0, unless that would hide the changes. */
export function balanceAxis(lowest: number, highest: number): BalanceAxis {
  const isFlat = lowest === highest;
  const isFromZero = isFlat || highest - lowest >= highest * VISIBLE_FROM_ZERO;
  const bottom = isFromZero ? 0 : lowest;
  const top = isFlat ? Math.max(1, highest * ROOM_ABOVE) : highest; // a flat line at the very top looks cut off
  const step = Math.max(PAISA, roundStep((top - bottom) / COUNT_OF_TICKS));
  const first = Math.floor(bottom / step);
  const last = Math.ceil(top / step);
  const values = Array.from({ length: last - first + 1 }, (_, nth) => (first + nth) * step);
  const labels = labelsOf(values, step);
  return {
    from: values[0]!,
    to: values.at(-1)!,
    ticks: values.map((value, nth) => ({ value, label: labels[nth]! })),
  };
}

/**
 * The line of the balances as the path of an SVG. Each balance has the same width, and begins with a vertical step. Where there are
 * more balances than pixels, those of one pixel become one vertical line, so that no peak is lost.
 */
export function stepPath(
  balances: readonly number[],
  width: number,
  yOf: (balance: number) => number,
): string {
  const columns = Math.min(balances.length, Math.max(1, Math.floor(width)));
  const x = (column: number): string => ((column * width) / columns).toFixed(1);
  const y = (balance: number): string => yOf(balance).toFixed(1);
  let path = `M0 ${y(balances[0]!)}`;
  for (let column = 0; column < columns; column += 1) {
    const from = Math.floor((column * balances.length) / columns);
    const to = Math.floor(((column + 1) * balances.length) / columns);
    let [least, most] = [Infinity, -Infinity];
    for (let nth = from; nth < to; nth += 1) {
      least = Math.min(least, balances[nth]!);
      most = Math.max(most, balances[nth]!);
    }
    if (to - from > 1) path += `V${y(least)}V${y(most)}`;
    path += `V${y(balances[to - 1]!)}H${x(column + 1)}`;
  }
  return path;
}
