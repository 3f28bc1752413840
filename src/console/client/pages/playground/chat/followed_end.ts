import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Turn } from "./pane.ts";

/** How near to the end the window must be scrolled to follow it again, in pixels. */
const TOLERANCE = 40;
/** Between the conversations and the composer, in pixels, as in the style sheet. */
const GAP = 16;

/** What is followed. */
export interface FollowedEnd {
  /** The conversations. */
  readonly panes: RefObject<HTMLElement | null>;
  /** Where messages are written, which stays in the window and can cover the end. */
  readonly composer: RefObject<HTMLElement | null>;
  /** The messages of each conversation. */
  readonly turns: readonly (readonly Turn[])[];
}

/**
 * Scrolls the window to the end of the conversations when a message is sent, and while the answer arrives, unless the
 * person scrolls back.
 */
export function useFollowedEnd({ panes, composer, turns }: FollowedEnd): void {
  const isAtEnd = useRef(true);
  const counts = useRef<readonly number[] | null>(null);
  /** The pixels of the conversations that the composer covers, or that are below the window. */
  const hidden = () => {
    const end = panes.current?.getBoundingClientRect().bottom ?? 0;
    return end + GAP - (composer.current?.getBoundingClientRect().top ?? end + GAP);
  };
  useEffect(() => {
    let lastY = scrollY;
    const note = () => {
      // Only a person scrolls back. A page that became shorter is at its end.
      if (scrollY < lastY) isAtEnd.current = hidden() <= 1;
      else if (hidden() <= TOLERANCE) isAtEnd.current = true;
      lastY = scrollY;
    };
    addEventListener("scroll", note, { passive: true });
    return () => removeEventListener("scroll", note);
  }, []);
  useLayoutEffect(() => {
    const before = counts.current;
    counts.current = turns.map(({ length }) => length);
    // What is shown at first is not scrolled.
    if (before === null) return;
    const isSent = turns.some(({ length }, place) => length > (before[place] ?? 0));
    if (isSent || isAtEnd.current) scrollBy(0, Math.max(0, hidden()));
  }, turns);
}
