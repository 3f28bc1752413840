import type { Admission } from "../billing/meter.ts";
import type { Clock } from "../lib/clock.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { UpstreamFailure } from "../upstreams/failure.ts";

/** Where a vendor's stream comes from. */
export interface StreamSource<T> {
  /** What comes next; null at the end, and after {@linkcode StreamSource.cancel}. */
  read(): Promise<T | null>;
  /** Ends the vendor's work. */
  cancel(): void;
  /**
   * The caller is gone: ends the vendor's work, at once or after a while. Resolves when it has ended, and never
   * rejects.
   */
  leave(): void | Promise<void>;
  /** The relay has finished before the stream: nothing more is to be read for the caller. */
  finish(): void;
}

/**
 * What is done with a vendor's stream on its way to the caller. Each function gives the bytes to send, null for none.
 */
export interface Relay<T = Uint8Array<ArrayBuffer>> {
  /** Something came. Waits where a charge must be durable before the bytes leave. */
  take(came: T): Bytes | Promise<Bytes>;
  /** The vendor's stream is over. */
  end(): Promise<Bytes>;
  /** Reading or translating failed; the failure becomes an event of the caller's protocol. Never rejects. */
  fail(thrown: unknown): Promise<Bytes>;
  /** The caller is gone, and the source knows. May be called twice. */
  left(): void;
  /** What may be sent now to show that the connection lives; null when nothing may. */
  heartbeat(): Bytes;
  /** True when nothing more is to be read: the caller has the whole reply. */
  readonly finished: boolean;
  /**
   * True while only the vendor can tell what the call consumes and has not done so: then it is heard out when the
   * caller leaves. Default: false.
   */
  readonly awaitsUsage?: boolean;
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

/** What relays work with. */
export interface RelayParts {
  readonly clock: Clock;
  readonly live: LiveStreams;
}

/** What one pull came to. */
interface Step {
  readonly bytes: Bytes;
  readonly isLast: boolean;
}

/** Ends the stream of an account that is overdrawn too far. */
function overdrawn(): GatewayError {
  return new GatewayError("insufficient_credits", "Cannot continue the reply: the balance is used up");
}

/**
 * The caller's stream: pulled, so that a slow reader slows only itself and the vendor, and never held longer than one
 * read.
 *
 * @param admission The call that the stream answers: it is ended when its account is overdrawn too far.
 */
export function relayed<T>(
  source: StreamSource<T>,
  relay: Relay<T>,
  admission: Pick<Admission, "onOverdrawn">,
  { clock, live }: RelayParts,
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
  const forget = live.add(abort);
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

  /** Goes on reading without a caller. A shutdown and an overdrawn account still end the stream. */
  async function hearOut(): Promise<void> {
    let { isLast } = await current;
    while (!isLast && relay.awaitsUsage) ({ isLast } = await step());
    if (isLast) forget();
    else giveUp();
  }

  function giveUp(): void {
    const leaving = source.leave();
    if (leaving instanceof Promise) void leaving.finally(forget);
    else forget();
    relay.left();
  }

  function beat(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>, afterMs: number): void {
    stopHeartbeat = clock.after(afterMs, () => {
      const quietMs = clock.monotonicMs() - sentAt;
      const pulse = quietMs >= HEARTBEAT_MS ? relay.heartbeat() : null;
      // Below zero there is something that the caller has not taken yet.
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
      // A cancelled source reads as one that ended.
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
        relay.left();
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
