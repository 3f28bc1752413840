import type { Clock } from "../lib/clock.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { OutboundResponse } from "../upstreams/outbound.ts";

/** What is done with a vendor's stream on its way to the caller. Each function gives the bytes to send, null for none. */
export interface Relay {
  /** Bytes came. Waits where something must be durable before they leave. */
  take(bytes: Uint8Array<ArrayBuffer>): Bytes | Promise<Bytes>;
  /** The vendor's stream is over. */
  end(): Promise<Bytes>;
  /** Reading or translating failed; the failure becomes an event of the caller's protocol. */
  fail(thrown: unknown): Promise<Bytes>;
  /** The caller is gone; the vendor has been told. */
  left(): void;
  /** What may be sent now to show that the connection lives; null when nothing may. */
  heartbeat(): Bytes;
  /** True when nothing more is to be read: the caller has the whole reply. */
  readonly finished: boolean;
}

/** Bytes for the caller, or none yet. */
export type Bytes = Uint8Array<ArrayBuffer> | null;

/** Streams under way, so that a shutdown can end them with a word instead of a cut. */
export class LiveStreams {
  readonly #aborts = new Set<(error: GatewayError) => void>();

  /** How many there are. */
  get count(): number {
    return this.#aborts.size;
  }

  /** Adds one; gives the way to take it out. */
  add(abort: (error: GatewayError) => void): () => void {
    this.#aborts.add(abort);
    return () => void this.#aborts.delete(abort);
  }

  /** Ends all with an error event of their protocol. */
  abortAll(): void {
    const error = new GatewayError("route_error", "The gateway is shutting down; send the request again");
    for (const abort of [...this.#aborts]) abort(error);
  }
}

const HEARTBEAT_MS = 15_000;

/**
 * The caller's stream: pulled, so that a slow reader slows only itself and the vendor, and never held longer than one read.
 * Source: `reliability` 2.10.
 */
export function relayed(
  response: OutboundResponse,
  relay: Relay,
  { clock, live }: { readonly clock: Clock; readonly live: LiveStreams },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let aborted: GatewayError | null = null;
  let sentAt = clock.now();
  let stopHeartbeat: () => void = () => {};
  const forget = live.add((error) => {
    aborted = error;
    response.cancel();
  });
  const over = () => {
    forget();
    stopHeartbeat();
  };

  function beat(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>, afterMs: number): void {
    stopHeartbeat = clock.after(afterMs, () => {
      const quietMs = clock.now() - sentAt;
      const pulse = quietMs >= HEARTBEAT_MS ? relay.heartbeat() : null;
      if (pulse && (controller.desiredSize ?? 0) >= 0) {
        sentAt = clock.now();
        controller.enqueue(pulse);
      }
      beat(controller, pulse ? HEARTBEAT_MS : Math.max(HEARTBEAT_MS - quietMs, 1_000));
    });
  }

  async function next(): Promise<{ bytes: Bytes; last: boolean }> {
    for (;;) {
      const came = await response.read();
      if (came === null) return { bytes: await relay.end(), last: true };
      const taken = relay.take(came);
      const bytes = taken instanceof Promise ? await taken : taken;
      if (relay.finished) {
        void drain(response);
        return { bytes, last: true };
      }
      if (bytes !== null) return { bytes, last: false };
    }
  }

  return new ReadableStream({
    start: (controller) => beat(controller, HEARTBEAT_MS),
    async pull(controller) {
      let step: { bytes: Bytes; last: boolean };
      try {
        step = await next();
      } catch (thrown) {
        response.cancel();
        step = { bytes: await relay.fail(aborted ?? thrown), last: true };
      }
      sentAt = clock.now();
      if (step.bytes !== null) controller.enqueue(step.bytes);
      if (step.last) {
        over();
        controller.close();
      }
    },
    cancel() {
      over();
      response.cancel();
      relay.left();
    },
  }, { highWaterMark: 0 });
}

/** Reads what little follows the end mark, so that the connection can serve again; a vendor that goes on is cut off. */
async function drain(response: OutboundResponse): Promise<void> {
  try {
    if (await response.read() !== null && await response.read() !== null) response.cancel();
  } catch {
    // The reply was complete; how its connection ended matters to nobody.
  }
}
