interface Props<T extends string> {
  /** Its name, where no field around it has one. */
  readonly label?: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, text: string])[];
  readonly onChoose: (value: T) => void;
}

/** A choice of one of several texts; a value that is none of them, as an address may have it, is shown as it is. */
export const Choice = <T extends string>({ label, value, options, onChoose }: Props<T>) => (
  <select
    aria-label={label}
    value={value}
    onChange={({ currentTarget }) => onChoose(currentTarget.value as T)}
  >
    {options.every(([name]) => name !== value) && <option>{value}</option>}
    {options.map(([name, text]) => (
      <option key={name} value={name}>
        {text}
      </option>
    ))}
  </select>
);

/** Options that are their own texts. */
export const named = <T extends string>(values: readonly T[]): readonly (readonly [T, T])[] =>
  values.map((value) => [value, value]);
