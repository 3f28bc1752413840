import type { OpenStreams } from "../../../services/calls/stream_relay.ts";
import type { Listening } from "../../../platform/http/listen.ts";
import { errorLocation } from "../../../platform/http/request_handler.ts";
import type { FromIsolate } from "../../../threads/serving/messages.ts";
import type { RecordSender } from "../../../threads/serving/record_sender.ts";
import { type Clock, waitAtMost } from "../../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { errorName, type Log } from "../../../platform/lib/basics/log.ts";
import type { Journal } from "../../../platform/store/journal/journal.ts";
import type { LeasedMeter } from "../../../threads/leases/leased_meter.ts";

/** What an {@linkcode IsolateLifecycle} ends. */
export interface IsolateLifecycleParts {
  readonly openStreams: OpenStreams;
  readonly records: RecordSender;
  readonly meter: LeasedMeter;
  /** Of the meter. */
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  /** Sends a message to the main thread. */
  readonly post: (message: FromIsolate) => void;
}

/** How long whole replies have to end after an error that nothing has caught. */
const FAILED_GRACE_MS = 10_000;
/** How long a stop waits until the last charges are in the ledger. */
const LAST_CHARGES_MS = 5_000;

/**
 * From the first connection that an isolate accepts to its last request. Each step is reported to the main thread,
 * which ends the thread after the last one:
 *
 *     start ─┬─ listening ─┬─ stop ─ stopped
 *            │             └─ an error that nothing has caught ─ failed
 *            └─ unable
 */
export class IsolateLifecycle {
  #listening: Listening | null = null;
  #isDraining = false;
  #hasFailed = false;

  constructor(private readonly parts: IsolateLifecycleParts) {}

  /** Whether no more connections are accepted. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Accepts connections. */
  async start(listen: () => Promise<Listening>): Promise<void> {
    const { post } = this.parts;
    try {
      this.#listening = await listen();
      post({ type: "listening" });
    } catch (error) {
      post({ type: "unable", reason: errorName(error) });
    }
  }

  /** Descriptors are scarce or not. See {@linkcode Listening}. */
  onDescriptors(isTight: boolean, renews: boolean): void {
    this.#listening?.setClosing(isTight);
    if (renews) this.#listening?.renew();
  }

  /** Stops accepting, and waits up to `graceMs` for running requests. */
  async stop(graceMs: number): Promise<void> {
    await this.#drain(graceMs);
    this.parts.post({ type: "stopped" });
  }

  /**
   * After an error that nothing has caught, this thread may be in a wrong state. It ends its streams, gives whole
   * replies some time, charges what was received, and lets the main thread replace it.
   */
  async fail(error: unknown): Promise<void> {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const { log, post } = this.parts;
    const reason = errorLocation(error);
    log.error("isolate_failed", { reason });
    const drained = this.#drain(FAILED_GRACE_MS).catch(() => {});
    this.endStreams();
    await drained;
    post({ type: "failed", reason });
  }

  /** Ends all streams with an error of their format, because this thread is about to end. */
  endStreams(): void {
    this.parts.openStreams.abortAll(
      new GatewayError("route_error", "The gateway failed during the reply; send the request again"),
    );
  }

  async #drain(graceMs: number): Promise<void> {
    const { openStreams, records, meter, journal, clock } = this.parts;
    this.#isDraining = true;
    await Promise.all([this.#listening?.shutdown(graceMs), openStreams.detached.drain(graceMs, clock)]);
    openStreams.departures.finish();
    await records.noneOpen();
    records.send();
    await waitAtMost(clock, LAST_CHARGES_MS, meter.flush()); // what the ledger does not take now stays in the journal
    await journal.close();
  }
}
