import type { StreamSource } from "../../calls/stream_relay.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import type { TextAttempt } from "../plan/attempt.ts";
import { FrameMemory } from "../memory/frame_memory.ts";

const DRAIN_MS = 1_000;

/** A vendor's streamed response in the framing that its format's reader expects. */
export function vendorEvents(response: OutboundResponse, { endpoint, request }: TextAttempt): OutboundResponse {
  if (endpoint.asEvents === undefined) return response;
  const memory = new FrameMemory(request.memory);
  return endpoint.asEvents(response, (bytes) => memory.hold(bytes));
}

/** A vendor's streamed response as a source. It is cancelled as soon as the caller disconnects. */
export function vendorStream(response: OutboundResponse, clock: Clock): StreamSource {
  return {
    readNext: (callbacks) => response.readNext(callbacks),
    cancel: () => response.cancel(),
    abandon: () => response.cancel(),
    finish: () => holdWork(drain(response, clock)),
  };
}

/**
 * Reads the few bytes after the end marker, so that the connection can be reused. A vendor that sends more is cut off.
 */
async function drain(response: OutboundResponse, clock: Clock): Promise<void> {
  const stop = clock.after(DRAIN_MS, () => response.cancel());
  try {
    if (await response.read() !== null && await response.read() !== null) response.cancel();
  } catch {
    // The reply was complete, so the end of its connection does not matter.
  } finally {
    stop();
  }
}
