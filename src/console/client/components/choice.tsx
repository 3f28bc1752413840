/** A choice of one of a few values, as buttons in a row. */
export function Choice<T extends string>({ label, values, titles, value, onChange }: {
  /** For screen readers. */
  readonly label: string;
  readonly values: readonly T[];
  readonly titles: Readonly<Record<T, string>>;
  readonly value: T;
  readonly onChange: (value: T) => void;
}) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {values.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === value}
          onClick={() => onChange(each)}
        >
          {titles[each]}
        </button>
      ))}
    </div>
  );
}
