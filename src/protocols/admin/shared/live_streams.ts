import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { holdRequest } from "../../../platform/lib/basics/held.ts";
import { Holdings } from "../../../platform/lib/collections/holdings.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { type OutputSource, outputStream, type StreamOutput } from "../../../platform/lib/streams/output_stream.ts";

/** A part of a state, which a stream sends when it has changed. */
export interface LivePart {
  /** The name of its event. */
  readonly event: string;
  readonly data: JsonObject;
  /** Equal texts are the same state, even if `data` differs, as in the instant of the read. */
  readonly version: string;
}

/** What a stream sends. */
export interface LiveSource {
  /** Reads the state. A failed read is repeated at the next tick. */
  read(): Promise<readonly LivePart[]>;
  /** Whether the credential of the stream is still valid; called on each tick. */
  isAuthorized(): Promise<boolean>;
}

/** The interval at which the states of all open streams are read. */
export const LIVE_TICK_MS = 1_000;
/** A stream without a change sends everything again after this many ticks, which shows that it is alive. */
const MAX_QUIET_TICKS = 15;
/** A client that does not read for this many ticks counts as disconnected. */
const MAX_STALLED_TICKS = 60;
const MAX_STREAMS = 64;
const MAX_STREAMS_PER_OPERATOR = 16;
const RETRY_AFTER_SECONDS = 5;

/**
 * The open streams of states that operators look at. Their number is bounded, one timer reads for all of them, and a
 * slow client gets only the newest state when it reads again, so nothing accumulates.
 */
export class LiveStreams {
  readonly #open = new Set<LiveStream>();
  /** The open streams of each operator, and of all. */
  readonly #held = new Holdings();
  #stopTimer: (() => void) | null = null;
  #isClosed = false;

  constructor(readonly clock: Clock) {}

  /**
   * Opens a stream of server-sent events, which starts with the whole state.
   *
   * @param operator The name of the admin key.
   * @throws {GatewayError} `rate_limited` if the operator, or all together, have the maximum number of streams.
   */
  open(operator: string, source: LiveSource): ReadableStream<Uint8Array<ArrayBuffer>> {
    const giveBack = this.#held.take([[`operator ${operator}`, MAX_STREAMS_PER_OPERATOR], ["all", MAX_STREAMS]]);
    if (giveBack === null) {
      const own = this.#held.of(`operator ${operator}`);
      const holder = own >= MAX_STREAMS_PER_OPERATOR ? `this admin key has ${own}` : `${this.#open.size} are`;
      const message = `Cannot open another event stream: ${holder} open, which is the maximum`;
      throw new GatewayError("rate_limited", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    const opened = new LiveStream(source, () => {
      giveBack();
      this.#forget(opened);
    });
    this.#open.add(opened);
    const stream = outputStream(opened);
    if (this.#isClosed) opened.end();
    else this.#startTimer();
    return stream;
  }

  /** Ends the open streams. Their clients connect again. */
  endAll(): void {
    for (const each of [...this.#open]) each.end();
  }

  /** Ends the open streams and all further ones. */
  close(): void {
    this.#isClosed = true;
    this.endAll();
  }

  #startTimer(): void {
    this.#stopTimer ??= this.clock.after(LIVE_TICK_MS, () => {
      this.#stopTimer = null;
      for (const each of [...this.#open]) each.startTick();
      if (this.#open.size > 0) this.#startTimer();
    });
  }

  #forget(stream: LiveStream): void {
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = null;
  }
}

const encoder = new TextEncoder();

class LiveStream implements OutputSource<Uint8Array<ArrayBuffer>> {
  #output: StreamOutput<Uint8Array<ArrayBuffer>> | null = null;
  /** The versions that were sent, by event. */
  readonly #sent = new Map<string, string>();
  #quietTicks = 0;
  #stalledTicks = 0;
  #isBusy = false;

  constructor(readonly source: LiveSource, readonly onEnd: () => void) {}

  start(output: StreamOutput<Uint8Array<ArrayBuffer>>): void {
    this.#output = output;
    this.startTick();
  }

  /** Sends what has changed. A failure ends the stream. */
  startTick(): void {
    holdRequest(this.#onTick(), () => this.end());
  }

  cancel(): void {
    this.onEnd();
  }

  end(): void {
    this.#output?.close();
    this.onEnd();
  }

  async #onTick(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      if (!await this.source.isAuthorized()) return this.end();
      if (this.#hasSpace()) await this.#sendChanges();
      else if (++this.#stalledTicks >= MAX_STALLED_TICKS) this.end();
    } catch {
      // The store is unavailable: the next tick reads again.
    } finally {
      this.#isBusy = false;
    }
  }

  #hasSpace(): boolean {
    return this.#output !== null && this.#output.desiredSize > 0;
  }

  /** Sends what has changed, as one piece. */
  async #sendChanges(): Promise<void> {
    this.#stalledTicks = 0;
    if (++this.#quietTicks >= MAX_QUIET_TICKS) this.#sent.clear();
    const parts = await this.source.read();
    const changed = parts.filter(({ event, version }) => this.#sent.get(event) !== version);
    if (this.#output === null || this.#output.isOver || changed.length === 0) return;
    for (const { event, version } of changed) this.#sent.set(event, version);
    this.#quietTicks = 0;
    this.#output.enqueue(encoder.encode(changed.map(writeEvent).join("")));
  }
}

function writeEvent({ event, data }: LivePart): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
