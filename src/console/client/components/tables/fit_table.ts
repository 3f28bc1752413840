/** Narrower tables with many columns are folded, in CSS pixels. */
const MIN_WIDTH = 560;
/** Tables with more columns are folded where they are narrow. */
const MAX_NARROW_COLUMNS = 3;
const FOLDED = "folded";

/**
 * Makes a table fit into the element that holds it: leaves out columns, or folds it.
 *
 * @param host Holds the table.
 * @param leaveOut A number for each column. Those with the highest number are left out first, those with 0 never.
 * @returns The places of the columns that are left out.
 */
export function fitTable(host: HTMLElement, leaveOut: readonly number[]): number[] {
  const rows = [...host.querySelectorAll("tr")];
  host.classList.remove(FOLDED);
  rows.forEach(({ cells }) => [...cells].forEach((cell) => cell.hidden = false));
  if (host.clientWidth < MIN_WIDTH && leaveOut.length > MAX_NARROW_COLUMNS) return fold(host);
  const leftOut: number[] = [];
  for (const place of orderOf(leaveOut)) {
    if (fits(host)) return leftOut;
    rows.forEach(({ cells }) => cells[place] !== undefined && (cells[place].hidden = true));
    leftOut.push(place);
  }
  if (fits(host)) return leftOut;
  rows.forEach(({ cells }) => [...cells].forEach((cell) => cell.hidden = false));
  return fold(host);
}

/** The places of the columns that may be left out, the first one first. */
export function orderOf(leaveOut: readonly number[]): number[] {
  return leaveOut.map((order, place) => ({ order, place })).filter(({ order }) => order > 0)
    .toSorted((one, other) => other.order - one.order).map(({ place }) => place);
}

function fits({ scrollWidth, clientWidth }: HTMLElement): boolean {
  return scrollWidth <= clientWidth;
}

function fold(host: HTMLElement): number[] {
  host.classList.add(FOLDED);
  return [];
}
