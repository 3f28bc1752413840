import type { ReplyEvent } from "../../../conversation/neutral/events.ts";
import { parseWithExactValues } from "../../../conversation/neutral/exact_values.ts";
import { eventsOfReply, replyOfEvents } from "../../../conversation/parts/reply/reply_events.ts";
import type { Reply } from "../../../conversation/neutral/reply.ts";
import type {
  StreamReader,
  StreamReaderOptions,
  UpstreamFormat,
} from "../../../conversation/contract/upstream_format.ts";
import { concatBytes } from "../../../platform/lib/bytes/concat_bytes.ts";

/**
 * Some compatible vendors answer a stream with a whole reply, a whole request with a stream, or name another media type
 * than they send. What they send is read for what it is.
 */

const OPEN_BRACE = 0x7b;
const SPACE = 0x20;

/** The maximum size of a whole reply to a stream. */
export const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** The fields of server-sent events (WHATWG HTML, 9.2). */
export const EVENT_FIELDS: readonly string[] = ["data", "event", "id", "retry"];

/** The start of a stream of server-sent events: a field or a comment. */
export const EVENTS_START = new RegExp(`^\\uFEFF?\\s*(?:${EVENT_FIELDS.join("|")})?:`);

/** Whether a response to a stream may have any of these framings. A page or a picture has none. */
export function mayBeReply(mediaType: string): boolean {
  return mediaType !== "text/html" && !/^(?:image|audio|video)\//.test(mediaType);
}

/** A reader of a response whose first character tells whether it is a stream or a whole reply. */
export function anyFramingReader(format: UpstreamFormat, options: StreamReaderOptions): StreamReader {
  const stream = format.streamReader(options);
  const pieces: Uint8Array[] = [];
  let length = 0;
  let isWhole: boolean | null = null;
  return {
    push(bytes, onEvent) {
      const first = bytes.find((byte) => byte > SPACE);
      isWhole ??= first === undefined ? null : first === OPEN_BRACE;
      if (isWhole === false) return stream.push(bytes, onEvent);
      pieces.push(bytes.slice());
      length += bytes.length;
      if (length > MAX_REPLY_BYTES) throw new RangeError(`Cannot read a reply of more than ${MAX_REPLY_BYTES} bytes`);
      options.onBufferedBytes?.(length);
    },
    end(onEvent) {
      if (isWhole !== true) return stream.end(onEvent);
      const reply = format.readReply(parseWithExactValues(new TextDecoder().decode(concatBytes(pieces))));
      for (const event of eventsOfReply(reply)) onEvent(event);
    },
  };
}

/** The reply in a whole response that is a stream; null for any other response. */
export function replyInEvents(text: string, bytes: Uint8Array, format: UpstreamFormat): Reply | null {
  if (!EVENTS_START.test(text)) return null;
  const reader = format.streamReader();
  const events: ReplyEvent[] = [];
  reader.push(bytes, (event) => events.push(event));
  reader.end((event) => events.push(event));
  return replyOfEvents(events);
}
