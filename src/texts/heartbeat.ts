import { Buffer } from "node:buffer";
import type { Bytes } from "../calls/stream_relay.ts";
import type { CallerFormat } from "../conversation/caller_format.ts";
import { encodeFrames } from "../lib/sse.ts";

const COMMENT = Buffer.from(": ping\n\n") as Uint8Array<ArrayBuffer>;

/** Returns the bytes that keep a stream alive. Null if clients of the format fail on any. */
export function heartbeatOf({ heartbeat }: Pick<CallerFormat, "heartbeat">): Bytes {
  if (heartbeat === null) return null;
  return heartbeat === "comment" ? COMMENT : encodeFrames([heartbeat]);
}
