import { type Clock, systemClock } from "../lib/basics/clock.ts";
import { HEARTBEAT_MS, type Heartbeats } from "../lib/process/heartbeats.ts";

/** A thread that answers no stop for so long is lost. */
export const LOST_MS = 10_000;

/** A watched thread to end. */
export interface WatchedEnd {
  readonly heartbeats: Heartbeats;
  readonly slot: number;
  /** Ends the thread when its event loop turns next. */
  readonly end: () => void;
  /** Whether it has ended by itself, as at its memory limit. */
  readonly hasExited: () => boolean;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/**
 * Ends a thread. The platform cannot end one whose event loop does not turn, and does not report that. So a thread that
 * is late is asked first, and ended when it answers. Until then it is watched. It counts as lost after ten seconds.
 */
export function endWatched({ heartbeats, slot, end, hasExited, clock = systemClock }: WatchedEnd): void {
  if (!heartbeats.isLate(slot)) {
    end();
    heartbeats.close(slot);
    return;
  }
  heartbeats.askEnd(slot);
  const askedAt = clock.monotonicMs();
  let isLost = false;
  const look = () => {
    if (hasExited() || heartbeats.hasAnswered(slot)) {
      if (isLost) heartbeats.addLost(-1);
      end();
      heartbeats.close(slot);
      return;
    }
    if (!isLost && clock.monotonicMs() - askedAt >= LOST_MS) {
      isLost = true;
      heartbeats.addLost(1);
    }
    clock.after(HEARTBEAT_MS, look);
  };
  look();
}
