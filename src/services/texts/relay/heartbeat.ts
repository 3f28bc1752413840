import { Buffer } from "node:buffer";
import type { Bytes } from "../../calls/stream_relay.ts";
import type { CallerFormat, EventWriter } from "../../../conversation/contract/caller_format.ts";
import { encodeFrames } from "../../../platform/lib/streams/sse.ts";

const COMMENT = Buffer.from(": ping\n\n") as Uint8Array<ArrayBuffer>;

/** From this silence on, events are sent in place of comments: Codex ends a stream after 300 seconds without one. */
const MIN_EVENT_SILENCE_MS = 60_000;

/**
 * Returns the bytes that keep a stream alive. Null if clients of the format fail on any.
 *
 * @param silentMs The time since the caller received anything but heartbeats.
 * @param writer The writer of the stream.
 */
export function heartbeatOf(
  { heartbeat }: Pick<CallerFormat, "heartbeat">,
  silentMs: number,
  writer: () => Pick<EventWriter, "keepalive">,
): Bytes {
  if (heartbeat === null) return null;
  const event = silentMs >= MIN_EVENT_SILENCE_MS ? writer().keepalive?.() ?? null : null;
  if (event !== null) return encodeFrames([event]);
  return heartbeat === "comment" ? COMMENT : encodeFrames([heartbeat]);
}
