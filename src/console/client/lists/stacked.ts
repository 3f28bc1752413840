/**
 * The values of series on top of each other: each has its own values and those of all series before it. Where no series
 * has a value, there is none.
 */
export function stacked(series: readonly (readonly (number | null)[])[]): (number | null)[][] {
  const sums: number[] = [];
  return series.map((values) =>
    values.map((value, place) => {
      sums[place] = (sums[place] ?? 0) + (value ?? 0);
      return series.every((each) => each[place] === null) ? null : sums[place];
    })
  );
}
