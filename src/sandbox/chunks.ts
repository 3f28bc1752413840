import type { Frame } from "../platform/lib/streams/frame.ts";
import type { ReplyEvent } from "../conversation/neutral/events.ts";
import type { Directives } from "./directives.ts";

/** A step of a streamed response: bytes to send, a delay, or an early end. */
export type Chunk =
  | { readonly kind: "frames"; readonly frames: readonly Frame[] }
  | { readonly kind: "wait"; readonly ms: number }
  /** `cut` breaks the connection; `close` ends the body as if it were complete. */
  | { readonly kind: "end"; readonly how: "cut" | "close" };

/** Writes the events of a stream in a vendor's format. */
export interface ChunkWriter {
  write(event: ReplyEvent): readonly Frame[];
  /** Returns the frames that report a failure after the first byte. */
  fail(): readonly Frame[];
}

/**
 * Yields the chunks of a stream with the requested faults. Deltas of texts and calls count; those of reasoning do not.
 * A fault that waits for more deltas than exist comes before the end.
 */
export function* chunksOf(
  events: readonly ReplyEvent[],
  writer: ChunkWriter,
  directives: Directives,
): Generator<Chunk> {
  const counted = new Set(events.filter((event) => event.type === "part-start").flatMap(countedIndex));
  const total = events.filter((event) => isCounted(event, counted)).length;
  const pauseAt = Math.max(1, Math.ceil(total / 2));
  let deltas = 0;
  for (const event of events) {
    if (event.type === "finish" || (deltas === 0 && isCounted(event, counted))) {
      const fault = faultAt(event.type === "finish" ? Infinity : 0, directives, writer);
      if (fault !== null) return yield* fault;
    }
    if (event.type === "part-delta" && directives.gapMs > 0) yield { kind: "wait", ms: directives.gapMs };
    const frames = writer.write(event);
    if (frames.length > 0) yield { kind: "frames", frames };
    if (!isCounted(event, counted)) continue;
    deltas++;
    const fault = faultAt(deltas, directives, writer);
    if (fault !== null) return yield* fault;
    if (deltas === pauseAt && directives.pauseMs > 0) yield { kind: "wait", ms: directives.pauseMs };
  }
}

function countedIndex(event: ReplyEvent): number[] {
  return event.type === "part-start" && event.part.kind !== "reasoning" ? [event.index] : [];
}

function isCounted(event: ReplyEvent, counted: ReadonlySet<number>): boolean {
  return event.type === "part-delta" && counted.has(event.index);
}

/** Returns the chunks of the fault that is due after this many deltas, or null if there is none. */
function faultAt(deltas: number, directives: Directives, writer: ChunkWriter): Chunk[] | null {
  const { cutAfter, closeAfter, errorAfter, truncates } = directives;
  if (cutAfter !== null && deltas >= cutAfter) return [{ kind: "end", how: "cut" }];
  if (closeAfter !== null && deltas >= closeAfter) return [{ kind: "end", how: "close" }];
  if (errorAfter !== null && deltas >= errorAfter) {
    return [{ kind: "frames", frames: writer.fail() }, { kind: "end", how: "close" }];
  }
  if (truncates && deltas > 0) {
    return [{ kind: "frames", frames: [{ event: null, data: '{"id":"trunc' }] }, { kind: "end", how: "close" }];
  }
  return null;
}
