import type { Page } from "playwright-core";

/** What holds other elements, with a visible edge or a place of its own beside others. */
const FRAMES = ".card, .stat, .field, .tool, .turn";

/** Allows for fractions of pixels. */
const TOLERANCE = 1;

/**
 * Elements that end beyond the right edge of the card or the field that holds them, and cells, heads and buttons that
 * end beyond the table that holds them, where nobody sees them. Other things that scroll or are cut off are left out,
 * as are elements that only screen readers find.
 */
export async function overflowsOf(page: Page): Promise<string[]> {
  return await page.evaluate(`(${findOverflows})(${JSON.stringify(FRAMES)}, ${TOLERANCE})`) as string[];
}

/** Runs in the page. A text, because tests have no types of the browser. */
const findOverflows = `(frames, tolerance) => {
  const isCut = (element) => getComputedStyle(element).overflowX !== "visible";
  const isHidden = (element) => element.closest(".visually-hidden, .skip") !== null;
  const cutCells = [...document.querySelectorAll(".table-scroll :is(th, td, button)")].flatMap((element) => {
    const { right, width } = element.getBoundingClientRect();
    const table = element.closest(".table-scroll");
    const beyond = right - table.getBoundingClientRect().right;
    // The head of a folded table is for screen readers only.
    const isFoldedHead = element.closest(".folded thead") !== null;
    if (width === 0 || beyond <= tolerance || isFoldedHead || isHidden(element)) return [];
    const name = element.textContent.slice(0, 30) || element.tagName;
    return [name + " ends " + Math.round(beyond) + " pixels after " + table.getAttribute("aria-label")];
  });
  return cutCells.concat([...document.querySelectorAll("main *")].flatMap((element) => {
    const frame = element.parentElement.closest(frames);
    if (frame === null || isHidden(element)) return [];
    for (let each = element.parentElement; each !== frame; each = each.parentElement) if (isCut(each)) return [];
    const { right, width } = element.getBoundingClientRect();
    const { paddingRight, borderRightWidth } = getComputedStyle(frame);
    const end = frame.getBoundingClientRect().right - parseFloat(paddingRight) - parseFloat(borderRightWidth);
    if (width === 0 || right <= end + tolerance) return [];
    const name = element.tagName.toLowerCase() + "." + element.className;
    return [name + " ends " + Math.round(right - end) + " pixels after " + frame.className];
  }));
}`;
