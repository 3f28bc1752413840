import type { Range } from "./statistics.ts";

/** A table; the first column has text, the others have figures. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, index) => index === 0 ? "---" : "--:");
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

/** A figure with fixed decimals and commas in thousands; a dash for null. */
export function figure(value: number | null | undefined, decimals = 0): string {
  if (value === null || value === undefined) return "–";
  return value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** A figure with its sign. */
export function signed(value: number | null, decimals: number): string {
  if (value === null) return "–";
  return (value < 0 ? "−" : "+") + figure(Math.abs(value), decimals);
}

/** A share of 1 as a percentage with one decimal. */
export function percent(share: number): string {
  return `${figure(share * 100, 1)} %`;
}

/** Bytes in millions of 2^20. */
export function mebibytes(bytes: number | null | undefined): string {
  return bytes === null || bytes === undefined ? "–" : figure(bytes / 2 ** 20);
}

/** A median with its range: `215 (210–221)`; a dash for null. */
export function ranged(range: Range | null, decimals = 0): string {
  if (range === null) return "–";
  const { median, min, max } = range;
  return min === max
    ? figure(median, decimals)
    : `${figure(median, decimals)} (${figure(min, decimals)}–${figure(max, decimals)})`;
}
