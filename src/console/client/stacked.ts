/** The values of series on top of each other: each has its own values and those of all series before it. */
export function stacked(series: readonly (readonly (number | null)[])[]): number[][] {
  const sums: number[] = [];
  return series.map((values) =>
    values.map((value, place) => {
      sums[place] = (sums[place] ?? 0) + (value ?? 0);
      return sums[place];
    })
  );
}
