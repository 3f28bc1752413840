import type { Admission } from "../billing/meter.ts";
import type { Clock } from "../lib/clock.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { UpstreamFailure } from "../upstreams/failure.ts";

/** The source of a vendor's stream. */
export interface StreamSource<T> {
  /** Reads the next item; null at the end, and after {@linkcode StreamSource.cancel}. */
  read(): Promise<T | null>;
  /** Cancels the vendor's work. */
  cancel(): void;
  /**
   * The caller disconnected: cancels the vendor's work, at once or later. Resolves when it has ended; never rejects.
   */
  abandon(): void | Promise<void>;
  /** The relay finished before the stream: nothing more is read for the caller. */
  finish(): void;
}

/** Transforms a vendor's stream for the caller. Each function returns the bytes to send, or null for none. */
export interface Relay<T = Uint8Array<ArrayBuffer>> {
  /** Handles an item. Waits if a charge must be durable before the bytes are sent. */
  take(came: T): Bytes | Promise<Bytes>;
  /** The vendor's stream ended. */
  end(): Promise<Bytes>;
  /** Reading or translating failed. The failure becomes an error event of the caller's protocol. Never rejects. */
  fail(thrown: unknown): Promise<Bytes>;
  /** The caller disconnected, and the source was notified. May be called twice. */
  onDisconnect(): void;
  /** A heartbeat to send now; null if none may be sent. */
  heartbeat(): Bytes;
  /** True if nothing more needs to be read: the caller has the whole response. */
  readonly finished: boolean;
  /**
   * True while only the vendor can report the usage and has not done so. The stream is then read to its end even if the
   * caller disconnects. Default: false.
   */
  readonly awaitsUsage?: boolean;
}

/** Bytes for the caller; null for none. */
export type Bytes = Uint8Array<ArrayBuffer> | null;

/** The open streams, so that a shutdown can end them with an error event. */
export class OpenStreams {
  readonly #aborts = new Set<(error: GatewayError) => void>();

  /** The number of open streams. */
  get count(): number {
    return this.#aborts.size;
  }

  /** Adds a stream; returns a function that removes it. */
  add(abort: (error: GatewayError) => void): () => void {
    this.#aborts.add(abort);
    return () => void this.#aborts.delete(abort);
  }

  /** Ends all streams with an error event of their protocol. */
  abortAll(): void {
    const error = new GatewayError("route_error", "The gateway is shutting down; send the request again");
    for (const abort of [...this.#aborts]) abort(error);
  }
}

const HEARTBEAT_MS = 15_000;

/** The dependencies of relays. */
export interface RelayParts {
  readonly clock: Clock;
  readonly openStreams: OpenStreams;
}

/** The result of one pull. */
interface Step {
  readonly bytes: Bytes;
  readonly isLast: boolean;
}

/** Ends the stream of an account that exceeds its overdraft limit. */
function overdrawn(): GatewayError {
  return new GatewayError("insufficient_credits", "Cannot continue the reply: the balance is used up");
}

/**
 * The caller's stream. It is pulled, so that a slow reader delays only itself and its vendor, and at most one read is
 * buffered.
 *
 * @param admission The admission of the call. The call ends if its account exceeds its overdraft limit.
 */
export function relayStream<T>(
  source: StreamSource<T>,
  relay: Relay<T>,
  admission: Pick<Admission, "onOverdrawn">,
  { clock, openStreams }: RelayParts,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let aborted: GatewayError | null = null;
  let isGone = false;
  let sentAt = clock.monotonicMs();
  let stopHeartbeat: () => void = () => {};
  let current: Promise<Step> = Promise.resolve({ bytes: null, isLast: false });
  const abort = (error: GatewayError) => {
    aborted = error;
    source.cancel();
  };
  const forget = openStreams.add(abort);
  admission.onOverdrawn(() => abort(overdrawn()));

  function over(): void {
    forget();
    stopHeartbeat();
  }

  function left(): void {
    isGone = true;
    stopHeartbeat();
    if (relay.awaitsUsage) void hearOut();
    else giveUp();
  }

  /** Reads on without a caller. A shutdown and an exceeded overdraft limit still end the stream. */
  async function hearOut(): Promise<void> {
    let { isLast } = await current;
    while (!isLast && relay.awaitsUsage) ({ isLast } = await step());
    if (isLast) forget();
    else giveUp();
  }

  function giveUp(): void {
    const leaving = source.abandon();
    if (leaving instanceof Promise) void leaving.finally(forget);
    else forget();
    relay.onDisconnect();
  }

  function beat(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>, afterMs: number): void {
    stopHeartbeat = clock.after(afterMs, () => {
      const quietMs = clock.monotonicMs() - sentAt;
      const pulse = quietMs >= HEARTBEAT_MS ? relay.heartbeat() : null;
      // A negative value means that the caller has not read everything yet.
      if (pulse && controller.desiredSize === 0) {
        sentAt = clock.monotonicMs();
        controller.enqueue(pulse);
      }
      beat(controller, pulse ? HEARTBEAT_MS : Math.max(HEARTBEAT_MS - quietMs, 1_000));
    });
  }

  async function next(): Promise<Step> {
    for (;;) {
      const came = await source.read();
      // A cancelled source appears to have ended.
      if (aborted) throw aborted;
      if (came === null) return { bytes: await relay.end(), isLast: true };
      const taken = relay.take(came);
      const bytes = taken instanceof Promise ? await taken : taken;
      if (relay.finished) {
        source.finish();
        return { bytes, isLast: true };
      }
      if (bytes !== null) return { bytes, isLast: false };
    }
  }

  async function step(): Promise<Step> {
    try {
      return await next();
    } catch (thrown) {
      source.cancel();
      const hasLeft = thrown instanceof UpstreamFailure && thrown.kind === "cancelled";
      if (!aborted && hasLeft) {
        relay.onDisconnect();
        return { bytes: null, isLast: true };
      }
      return { bytes: await relay.fail(aborted ?? thrown), isLast: true };
    }
  }

  return new ReadableStream({
    start: (controller) => beat(controller, HEARTBEAT_MS),
    async pull(controller) {
      current = step();
      const { bytes, isLast } = await current;
      if (isGone) return;
      sentAt = clock.monotonicMs();
      if (bytes !== null) controller.enqueue(bytes);
      if (!isLast) return;
      over();
      controller.close();
    },
    cancel: () => left(),
  }, { highWaterMark: 0 });
}
