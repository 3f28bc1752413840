import type { Frame } from "../../../platform/lib/streams/frame.ts";
import { textHasMoreValuesThan } from "../../../platform/lib/json/json_values.ts";
import { createFrameReader, MAX_IMAGE_FRAME_BYTES } from "../../../platform/lib/streams/sse.ts";
import type { ReplyEvent } from "../../neutral/events.ts";
import type { EventReader, StreamReader, StreamReaderOptions } from "../../contract/upstream_format.ts";

/** Larger frames are not part of any reply, and parsing them would block other requests. */
const MAX_FRAME_VALUES = 50_000;

/** A stream reader for vendors that send server-sent events (WHATWG HTML, 9.2). */
export function sseStreamReader(
  events: EventReader,
  { onData: seen, onBufferedBytes: held }: StreamReaderOptions = {},
): StreamReader {
  // Images arrive as base64 in one frame.
  const frames = createFrameReader({ maxFrameCharacters: MAX_IMAGE_FRAME_BYTES });
  let bufferedBytes = 0;

  function read(frame: Frame): ReplyEvent[] {
    if (isBlank(frame.data)) return []; // a keep-alive of some vendors
    seen?.(frame.data);
    if (textHasMoreValuesThan(frame.data, MAX_FRAME_VALUES)) {
      throw new RangeError(`Cannot read a frame of more than ${MAX_FRAME_VALUES} JSON values`);
    }
    return events.read(frame);
  }

  /** The events of an unterminated last frame; none if it was cut off. */
  function last(): ReplyEvent[] {
    try {
      return frames.end().flatMap(read);
    } catch {
      return [];
    }
  }

  return {
    push(bytes, onEvent) {
      bufferedBytes += bytes.length;
      held?.(bufferedBytes);
      const whole = frames.push(bytes);
      if (whole.length > 0) {
        bufferedBytes = 0;
        held?.(0);
      }
      for (const frame of whole) {
        for (const event of read(frame)) {
          onEvent(event);
          if (event.type === "finish") return;
        }
      }
    },
    end(onEvent) {
      for (const event of last()) onEvent(event);
      for (const event of events.end()) onEvent(event);
    },
  };
}

/** Whether a text has only whitespace. Almost all texts begin with another character. */
function isBlank(text: string): boolean {
  return text.charCodeAt(0) > SPACE ? false : text.trim() === "";
}

const SPACE = 0x20;
