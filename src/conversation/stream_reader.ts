import type { Frame } from "../lib/frame.ts";
import { textHasMoreValuesThan } from "../lib/json_values.ts";
import { createFrameReader } from "../lib/sse.ts";
import type { ReplyEvent } from "./events.ts";
import type { EventReader, StreamReader, StreamReaderOptions } from "./upstream_format.ts";

/** A frame of more values is none of a reply, and parsing it would hold up other callers. */
const MAX_FRAME_VALUES = 50_000;

/** A stream reader for vendors that frame their events as WHATWG HTML, 9.2 says. */
export function sseStreamReader(events: EventReader, { seen }: StreamReaderOptions = {}): StreamReader {
  const frames = createFrameReader();

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
      for (const frame of frames.push(bytes)) yield* read(frame);
    },
    *end() {
      yield* last();
      yield* events.end();
    },
  };
}
