import type { RequestRecord } from "../../platform/http/request/request_record.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { holdWork } from "../../platform/lib/basics/held.ts";
import { afterTurn, MAX_TURN_BYTES, MAX_TURN_EVENTS, MAX_TURN_READS } from "../../platform/lib/streams/loop_turns.ts";
import { NO_SLOT, SlotSet } from "../../platform/lib/collections/slot_set.ts";
import { isPending, type MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";
import { markWork } from "../../platform/lib/process/own_heartbeat.ts";
import type { ThreadUse } from "../../platform/lib/process/thread_use.ts";
import {
  type OutputSource,
  outputStream,
  reportStreamFailure,
  type StreamOutput,
} from "../../platform/lib/streams/output_stream.ts";
import type { ReadCallbacks } from "../../platform/net/http1/response.ts";
import { UpstreamFailure } from "../../vendors/upstreams/call/failure.ts";
import { Departures } from "./departures.ts";
import { DetachedWork } from "./detached_work.ts";
import { eventSliceOf } from "./event_slice.ts";
import type { Settlement } from "./settlement.ts";
import { UnreadMemory } from "./unread_memory.ts";

/** The source of a vendor's stream. */
export interface StreamSource {
  /** Reads the next bytes. A cancelled source has ended. One read is pending at a time. */
  readNext(callbacks: ReadCallbacks): void;
  /** Cancels the vendor's work. */
  cancel(): void;
  /**
   * The caller disconnected: cancels the vendor's work, at once or later. Resolves when it has ended; never rejects.
   */
  abandon(): MaybePromise<void>;
  /** The relay finished before the stream: nothing more is read for the caller. */
  finish(): void;
}

/** Transforms a vendor's stream for the caller. Each function returns the bytes to send, or null for none. */
export interface StreamTransform {
  /** Handles bytes, split anywhere. Waits if a charge must be durable before the result is sent. */
  take(came: Uint8Array<ArrayBuffer>): MaybePromise<Bytes>;
  /** The vendor's stream ended. */
  end(): Promise<Bytes>;
  /** Reading or translating failed. The failure becomes an error event of the caller's protocol. Never rejects. */
  fail(thrown: unknown): Promise<Bytes>;
  /** The caller disconnected, perhaps some milliseconds ago, and the source was notified. Called at most once. */
  onDisconnect(): void;
  /**
   * A heartbeat to send now; null if none may be sent.
   *
   * @param silentMs The time since the caller received anything but heartbeats.
   */
  heartbeat(silentMs: number): Bytes;
  /** True if nothing more needs to be read: the caller has the whole response. */
  readonly finished: boolean;
  /**
   * True while only the vendor can report the usage and has not done so. The stream is then read to its end even if the
   * caller disconnects. Default: false.
   */
  readonly awaitsUsage?: boolean;
  /** The memory of the request. What the caller does not read counts towards it. */
  readonly memory: HeldMemory;
}

/** Bytes for the caller; null for none. */
export type Bytes = Uint8Array<ArrayBuffer> | null;

/** The open streams, so that a shutdown can end them with an error event. */
export class OpenStreams {
  /** The calls whose callers disconnected and that were not charged yet. */
  readonly departures = new Departures();
  /** The work that goes on without its caller. */
  readonly detached = new DetachedWork();
  /** The calls that have no response yet. */
  readonly calls = new DetachedWork();
  readonly #aborts = new SlotSet<{ slot: number; readonly abort: (error: GatewayError) => void }>();

  /**
   * @param use What other threads hold. Default: no other thread has streams.
   * @param countsUnread Whether what callers do not read counts towards their memory. Default: true.
   */
  constructor(readonly use: ThreadUse | null = null, readonly countsUnread: boolean = true) {}

  /** The number of open streams of all threads. */
  get count(): number {
    return this.#aborts.size + (this.use?.othersStreams ?? 0);
  }

  /** Adds a stream; returns a function that removes it. */
  add(abort: (error: GatewayError) => void): () => void {
    const stream = { slot: NO_SLOT, abort };
    this.#aborts.add(stream);
    this.use?.setStreams(this.#aborts.size);
    return () => {
      this.#aborts.delete(stream);
      this.use?.setStreams(this.#aborts.size);
    };
  }

  /**
   * Ends all streams with an error event of their protocol.
   *
   * @param error Default: the gateway is shutting down.
   */
  abortAll(
    error = shuttingDown(),
  ): void {
    for (const { abort } of [...this.#aborts]) abort(error);
    this.detached.abortAll();
  }

  /** Ends all streams, and all calls that have no response yet, since the gateway stops. */
  abortForStop(): void {
    this.abortAll();
    this.calls.abortAll();
  }
}

/** The error of requests that do not end within the time of a stop. */
export function shuttingDown(): GatewayError {
  return new GatewayError("route_error", "The gateway is shutting down; send the request again");
}

const HEARTBEAT_MS = 15_000;

/** The dependencies of relays. */
export interface RelayParts {
  readonly clock: Clock;
  readonly openStreams: OpenStreams;
}

/** The call that a stream answers. */
export interface StreamedCall {
  readonly facts: Pick<Settlement["facts"], "record">;
  readonly admission: Pick<Settlement["admission"], "onOverdrawn">;
}

/** Ends the stream of an account that exceeds its overdraft limit. */
function overdrawn(): GatewayError {
  return new GatewayError("insufficient_credits", "Cannot continue the reply: the balance is used up");
}

/**
 * The caller's stream. It reads on only while the caller receives everything, so that a slow reader delays only itself
 * and its vendor, and at most one read is buffered. It takes a turn of the event loop after {@linkcode MAX_TURN_READS}
 * reads, {@linkcode MAX_TURN_BYTES} or {@linkcode MAX_TURN_EVENTS}, so that a fast vendor delays no other stream.
 *
 * @param call Ends if its account exceeds its overdraft limit. Its record is held until the stream is over.
 */
export function relayStream(
  source: StreamSource,
  relay: StreamTransform,
  call: StreamedCall,
  parts: RelayParts,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const relayed = new RelayedStream(source, relay, call.facts.record, parts);
  call.admission.onOverdrawn(() => relayed.abort(overdrawn()));
  return outputStream(relayed, { highWaterMark: 0 });
}

const READ_WORK = 1 / MAX_TURN_READS;
const BYTE_WORK = 1 / MAX_TURN_BYTES;
const EVENT_WORK = 1 / MAX_TURN_EVENTS;
/** Shorter reads have few events. They are not searched for them, since that would cost each chunk of each stream. */
const MIN_SLICED_BYTES = 1_024;

/**
 * Reads, hands what it read to the relay and sends the result, for each pull. It works by callbacks: a promise and a
 * closure for each step of each chunk would cost more than the steps.
 */
class RelayedStream implements OutputSource<Uint8Array<ArrayBuffer>>, ReadCallbacks {
  readonly #source: StreamSource;
  readonly #relay: StreamTransform;
  readonly #clock: Clock;
  readonly #departures: Departures;
  readonly #forget: () => void;
  readonly #record: RequestRecord;
  readonly #unreadMemory: UnreadMemory | null;
  #output: StreamOutput<Uint8Array<ArrayBuffer>> | null = null;
  #stopHeartbeat: () => void = () => {};
  #sentAt: number;
  /** When the caller received anything but heartbeats. */
  #spokenAt: number;
  #aborted: GatewayError | null = null;
  /** What was read and not handed to the relay yet. */
  #unread: Uint8Array<ArrayBuffer> | null = null;
  /** The work for which no turn of the event loop was taken; at 1, one is. */
  #work = 0;
  /** Resolves the promise of the last pull, so that the platform can pull again. */
  #endPull: () => void = () => {};
  /** Whether something is being read or handled, or a turn is awaited. A pull has no effect then. */
  #isBusy = false;
  /** Whether the last bytes were sent, or are being made after a failure. */
  #isOver = false;
  #isFailing = false;
  /** Whether the caller disconnected, and whether nothing is read for it any more. */
  #isGone = false;
  #hasGivenUp = false;
  /** Whether the call is charged, now or later, as one whose caller disconnected. */
  #isCharged = false;
  #isRecordReleased = false;

  constructor(source: StreamSource, relay: StreamTransform, record: RequestRecord, { clock, openStreams }: RelayParts) {
    this.#source = source;
    this.#relay = relay;
    this.#clock = clock;
    this.#departures = openStreams.departures;
    this.#sentAt = this.#spokenAt = clock.monotonicMs();
    this.#record = record;
    this.#unreadMemory = openStreams.countsUnread ? new UnreadMemory(relay.memory) : null;
    record.hold();
    record.responseBytes = 0;
    this.#forget = openStreams.add((error) => this.abort(error));
  }

  /** Ends the stream with an error event. */
  abort(error: GatewayError): void {
    this.#aborted = error;
    this.#source.cancel();
    // A caller that does not read may never do so again: without a pending read, nothing else ends the stream.
    if (this.#isBusy || this.#isOver || this.#isGone) return;
    this.#isBusy = true;
    this.#fail(error);
  }

  /** Called by the platform at the start. */
  start(output: StreamOutput<Uint8Array<ArrayBuffer>>): void {
    this.#output = output;
    this.#beat(HEARTBEAT_MS);
  }

  /**
   * Called by the platform when the caller can receive more. The promise stays open while the caller receives all bytes
   * at once, because the platform then does less for each chunk.
   */
  pull(): Promise<void> {
    this.#unreadMemory?.release();
    if (!this.#isBusy && !this.#isOver) this.#readNext();
    return new Promise((resolve) => this.#endPull = resolve);
  }

  /** Called by the platform when the caller disconnects. */
  cancel(): void {
    this.#isGone = true;
    this.#stopHeartbeat();
    this.#unreadMemory?.release();
    if (!this.#isBusy) this.#readWithoutCaller();
    else if (this.#relay.awaitsUsage !== true) this.#giveUp();
  }

  onChunk(bytes: Uint8Array<ArrayBuffer>): void {
    markWork("stream", this.#record.arrival.requestId, this.#record.lastAttempt?.provider);
    this.#work += READ_WORK;
    this.#takeSlice(bytes);
  }

  onEnd(): void {
    // A cancelled source appears to have ended.
    if (this.#aborted !== null) this.#fail(this.#aborted);
    else this.#relay.end().then(this.#onLast).catch(this.#onThrown);
  }

  onError(error: unknown): void {
    this.#fail(error);
  }

  #readNext(): void {
    this.#isBusy = true;
    const unread = this.#unread;
    if (this.#work >= 1) afterTurn(this.#onTurn);
    else if (unread === null) this.#source.readNext(this);
    else this.#takeSlice(unread);
  }

  readonly #onTurn = (): void => {
    this.#work--; // what exceeds a turn counts for the next one
    if (!this.#hasGivenUp) this.#readNext();
  };

  /** Hands the first events of what was read to the relay. */
  #takeSlice(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#aborted !== null) return this.#fail(this.#aborted);
    const slice = bytes.length < MIN_SLICED_BYTES ? bytes : this.#sliceOf(bytes);
    this.#unread = slice.length < bytes.length ? bytes.subarray(slice.length) : null;
    this.#work += slice.length * BYTE_WORK;
    let taken: MaybePromise<Bytes>;
    try {
      taken = this.#relay.take(slice);
    } catch (thrown) {
      return this.#fail(thrown);
    }
    if (isPending(taken)) taken.then(this.#onTaken, this.#onThrown);
    else this.#onTaken(taken);
  }

  #sliceOf(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const { end, events } = eventSliceOf(bytes);
    this.#work += events * EVENT_WORK;
    return end < bytes.length ? bytes.subarray(0, end) : bytes;
  }

  readonly #onTaken = (bytes: Bytes): void => {
    try {
      this.#sendTaken(bytes);
    } catch (thrown) {
      this.#fail(thrown);
    }
  };

  #sendTaken(bytes: Bytes): void {
    if (this.#isOver || this.#isFailing) return;
    if (this.#relay.finished) {
      this.#source.finish();
      this.#onLast(bytes);
    } else if (bytes === null) this.#readNext();
    else this.#send(bytes);
  }

  readonly #onThrown = (thrown: unknown): void => this.#fail(thrown);

  #send(bytes: Uint8Array<ArrayBuffer>): void {
    this.#isBusy = false;
    if (this.#isGone) return this.#readWithoutCaller();
    this.#sentAt = this.#spokenAt = this.#clock.monotonicMs();
    // The caller can leave within this call. It is handled then.
    this.#enqueue(bytes);
    if (this.#isGone) return;
    // A negative value means that the caller was not waiting for these bytes. The next pull continues.
    if (this.#output?.desiredSize === 0) return this.#readNext();
    this.#endPull();
    this.#holdUnread();
  }

  /** A caller that does not read is disconnected if there is no memory for what waits for it. */
  #holdUnread(): void {
    try {
      this.#unreadMemory?.hold(this.#record.responseBytes ?? 0);
    } catch (thrown) {
      this.#output?.error(thrown);
      this.cancel();
    }
  }

  readonly #onLast = (bytes: Bytes): void => {
    if (!this.#isOver) this.#end();
    if (bytes !== null) this.#enqueue(bytes);
    this.#output?.close();
  };

  #enqueue(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#isGone) return;
    const record = this.#record;
    record.firstByteAt ??= this.#clock.now();
    record.responseBytes! += bytes.length;
    record.capture?.addResponse(bytes);
    this.#output?.enqueue(bytes);
  }

  #fail(thrown: unknown): void {
    if (this.#isOver) return this.#output?.fail(thrown);
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#unread = null;
    this.#source.cancel();
    const failure = this.#aborted ?? thrown;
    if (failure instanceof UpstreamFailure && failure.kind === "cancelled") {
      this.#chargeLater();
      return this.#onLast(null);
    }
    if (!(failure instanceof GatewayError) && !(failure instanceof UpstreamFailure)) reportStreamFailure(failure);
    this.#relay.fail(failure).then(this.#onLast).catch(this.#break);
  }

  /** Even the final bytes failed: only the caller's connection can end. */
  readonly #break = (thrown: unknown): void => {
    if (!this.#isOver) this.#end();
    this.#output?.fail(thrown);
  };

  #end(): void {
    this.#isOver = true;
    this.#stopHeartbeat();
    this.#unreadMemory?.release();
    this.#releaseRecord();
    // A source that was given up may still work for the caller that left; it counts as open until then.
    if (!this.#hasGivenUp) this.#forget();
  }

  /** Reads on while only the vendor can report the usage. A shutdown and an overdraft limit still end the stream. */
  #readWithoutCaller(): void {
    if (this.#isOver || this.#hasGivenUp) return;
    if (this.#relay.awaitsUsage === true) this.#readNext();
    else this.#giveUp();
  }

  #giveUp(): void {
    this.#hasGivenUp = true;
    this.#unread = null;
    const leaving = this.#source.abandon();
    if (isPending(leaving)) holdWork(leaving.finally(this.#forget));
    else this.#forget();
    this.#chargeLater();
    this.#releaseRecord();
  }

  /** The call holds the record too, until it is charged. */
  #releaseRecord(): void {
    if (this.#isRecordReleased) return;
    this.#isRecordReleased = true;
    this.#record.release();
  }

  /** A read that was cancelled reports the same disconnect again. */
  #chargeLater(): void {
    if (this.#isCharged) return;
    this.#isCharged = true;
    this.#departures.add(() => this.#relay.onDisconnect(), this.#clock);
  }

  #beat(afterMs: number): void {
    this.#stopHeartbeat = this.#clock.after(afterMs, () => {
      try {
        this.#onBeat();
      } catch (thrown) {
        this.#fail(thrown);
      }
    });
  }

  #onBeat(): void {
    const now = this.#clock.monotonicMs();
    const quietMs = now - this.#sentAt;
    const pulse = quietMs >= HEARTBEAT_MS ? this.#relay.heartbeat(now - this.#spokenAt) : null;
    // A negative value means that the caller has not read everything yet.
    if (pulse && this.#output?.desiredSize === 0) {
      this.#sentAt = this.#clock.monotonicMs();
      this.#output.enqueue(pulse);
    }
    if (!this.#isGone) this.#beat(pulse ? HEARTBEAT_MS : Math.max(HEARTBEAT_MS - quietMs, 1_000));
  }
}
