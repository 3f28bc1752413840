const PAGE = 10;

/**
 * The place of the value that a key leads to. Source: WAI-ARIA Authoring Practices, "Slider".
 *
 * @param place The current one, from 0.
 * @param last The last one.
 * @returns Null to leave the values; undefined for keys that lead nowhere.
 */
export function placeAfterKey(key: string, place: number, last: number): number | null | undefined {
  if (key === "Escape") return null;
  const to = targetOf(key, place, last);
  return to === undefined ? undefined : Math.max(0, Math.min(last, to));
}

function targetOf(key: string, place: number, last: number): number | undefined {
  switch (key) {
    case "ArrowLeft":
    case "ArrowDown":
      return place - 1;
    case "ArrowRight":
    case "ArrowUp":
      return place + 1;
    case "PageDown":
      return place - PAGE;
    case "PageUp":
      return place + PAGE;
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}
