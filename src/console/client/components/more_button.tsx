import { TEXTS } from "../texts.ts";

/** Shows more of a list; nothing at its end. */
export function MoreButton({ onMore }: {
  /** Null at the end of the list. */
  readonly onMore: (() => void) | null;
}) {
  return onMore === null ? null : <button type="button" class="more" onClick={onMore}>{TEXTS.app.more}</button>;
}
