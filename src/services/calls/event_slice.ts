import { MAX_TURN_EVENTS } from "../../platform/lib/streams/loop_turns.ts";

const LF = 10, CR = 13;
/** Lines outside of events, such as comments, are work too: that of a twentieth of an event. */
const LINES_PER_EVENT = 20;
const MAX_LINES = LINES_PER_EVENT * MAX_TURN_EVENTS;

/** The start of a read that is handled in one step. */
export interface EventSlice {
  /** Where it ends: after a line, or at the end of the read. */
  readonly end: number;
  /** The number of events that end in it, or a twentieth of its lines if that is more. */
  readonly events: number;
}

/**
 * Finds the first events of a read, at most {@linkcode MAX_TURN_EVENTS}. Most reads have fewer. Source: WHATWG HTML,
 * 9.2.6 "Interpreting an event stream".
 */
export function eventSliceOf(bytes: Uint8Array): EventSlice {
  let events = 0;
  let lines = 0;
  let lineStart = 0;
  let hasText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== LF && byte !== CR) continue;
    const isEmpty = at === lineStart;
    if (byte === CR && bytes[at + 1] === LF) at++;
    lineStart = at + 1;
    lines++;
    if (isEmpty && hasText) events++;
    hasText = !isEmpty;
    if (events >= MAX_TURN_EVENTS || lines >= MAX_LINES) return { end: at + 1, events: MAX_TURN_EVENTS };
  }
  return { end: bytes.length, events: Math.max(events, lines / LINES_PER_EVENT) };
}
