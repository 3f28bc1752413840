import { Buffer } from "node:buffer";
import type { Bytes } from "../calls/stream_relay.ts";
import type { Codec } from "../conversation/codec.ts";

const COMMENT = Buffer.from(": ping\n\n") as Uint8Array<ArrayBuffer>;
const PING = Buffer.from('event: ping\ndata: {"type":"ping"}\n\n') as Uint8Array<ArrayBuffer>;

/** What may be sent to show that a stream lives; null where the form's clients take it badly. */
export function heartbeatOf(codec: Codec): Bytes {
  switch (codec.name) {
    case "messages":
      return PING;
    case "content":
      return null;
    default:
      return COMMENT;
  }
}
