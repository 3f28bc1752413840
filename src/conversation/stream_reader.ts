import type { Frame } from "../lib/frame.ts";
import { textHasMoreValuesThan } from "../lib/json_values.ts";
import { createFrameReader, MAX_PICTURE_FRAME_BYTES } from "../lib/sse.ts";
import type { ReplyEvent } from "./events.ts";
import type { EventReader, StreamReader, StreamReaderOptions } from "./upstream_format.ts";

/** A frame of more values is none of a reply, and parsing it would hold up other callers. */
const MAX_FRAME_VALUES = 50_000;

/** A stream reader for vendors that frame their events as WHATWG HTML, 9.2 says. */
export function sseStreamReader(events: EventReader, { seen, held }: StreamReaderOptions = {}): StreamReader {
  // Pictures come as base64 in one frame.
  const frames = createFrameReader({ longestFrame: MAX_PICTURE_FRAME_BYTES });
  let open = 0;

  function read(frame: Frame): ReplyEvent[] {
    if (frame.data.trim() === "") return []; // a sign of life, as some vendors send
    seen?.(frame.data);
    if (textHasMoreValuesThan(frame.data, MAX_FRAME_VALUES)) {
      throw new RangeError(`Cannot read a frame of more than ${MAX_FRAME_VALUES} JSON values`);
    }
    return events.read(frame);
  }

  /** The events of a frame that the stream ended in; one that was cut in two says nothing. */
  function last(): ReplyEvent[] {
    try {
      return frames.end().flatMap(read);
    } catch {
      return [];
    }
  }

  return {
    *push(bytes) {
      open += bytes.length;
      held?.(open);
      const whole = frames.push(bytes);
      if (whole.length > 0) {
        open = 0;
        held?.(0);
      }
      for (const frame of whole) yield* read(frame);
    },
    *end() {
      yield* last();
      yield* events.end();
    },
  };
}
