import type { StreamSource } from "../calls/stream_relay.ts";
import type { Clock } from "../lib/clock.ts";
import type { OutboundResponse } from "../upstreams/outbound_call.ts";

const DRAIN_MS = 1_000;

/** A vendor's streamed response as a source. It is cancelled as soon as the caller leaves. */
export function vendorStream(response: OutboundResponse, clock: Clock): StreamSource<Uint8Array<ArrayBuffer>> {
  return {
    read: () => response.read(),
    cancel: () => response.cancel(),
    leave: () => response.cancel(),
    finish: () => void drain(response, clock),
  };
}

/** Reads what little follows the end mark, so that the connection can serve again; a vendor that goes on is cut off. */
async function drain(response: OutboundResponse, clock: Clock): Promise<void> {
  const stop = clock.after(DRAIN_MS, () => response.cancel());
  try {
    if (await response.read() !== null && await response.read() !== null) response.cancel();
  } catch {
    // The reply was complete; how its connection ended matters to nobody.
  } finally {
    stop();
  }
}
