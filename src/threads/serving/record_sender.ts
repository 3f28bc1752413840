import type { CapturedBodies } from "../../platform/http/request/body_capture.ts";
import type { RequestRecord } from "../../platform/http/request/request_record.ts";
import { type Clock, waitAtMost } from "../../platform/lib/basics/clock.ts";
import type { LeaseReport } from "../state/messages.ts";
import type { Successes } from "./flagged_breaker.ts";
import type { FromServing, IsolateData } from "./messages.ts";
import { OpenRequests } from "./open_requests.ts";
import type { Outbox } from "./outbox.ts";
import { recordMessageOf } from "./record_message.ts";
import { RecordWriter } from "./written_records.ts";

/** The dependencies of {@linkcode RecordSender}. */
export interface RecordSenderOptions {
  readonly data: Pick<IsolateData, "writesRecords" | "hasRows" | "countsRequests">;
  readonly clock: Clock;
  readonly outbox: Pick<Outbox<FromServing>, "post" | "postLater">;
  /** Sends messages by themselves, at once. */
  readonly send: (messages: readonly FromServing[]) => void;
  /** Takes the successful attempts that were not sent to the main thread. */
  readonly takeSuccesses: () => readonly Successes[];
}

/** How long what is written of a request waits for others. A report of leases takes it along before. */
const WRITTEN_MS = 60;
/** How long a stop waits for the records of the last requests. They follow the charges, which may count tokens. */
const LAST_RECORDS_MS = 3_000;

/** Sends the main thread what it logs and counts of the requests of an isolate. */
export class RecordSender {
  readonly #open: OpenRequests;
  readonly #writer: RecordWriter;
  /** The ids of written requests that were announced. */
  #announcedIds: string[] = [];
  #cancelSend: (() => void) | null = null;
  #onNoneOpen: () => void = () => {};

  constructor(private readonly options: RecordSenderOptions) {
    const { clock, outbox, data: { hasRows, countsRequests } } = options;
    this.#writer = new RecordWriter({ clock, hasRows, countsRequests });
    this.#open = new OpenRequests(clock, (records) => {
      outbox.post({ type: "open-requests", requests: records.map((record) => recordMessageOf(record, null)) });
    });
  }

  /** A request has arrived. */
  readonly onArrival = (record: RequestRecord): void => this.#open.add(record);

  /** A request has ended. The main thread writes it to the logs and counts it. */
  readonly observe = (record: RequestRecord): void => {
    const { data, outbox } = this.options;
    const { status, end, capture } = record;
    const bodies = capture?.take(status >= 400 || (end !== null && end !== "completed")) ?? null;
    const wasAnnounced = this.#open.delete(record);
    if (data.writesRecords && bodies === null && this.#writer.add(record)) {
      if (wasAnnounced) this.#announcedIds.push(record.arrival.requestId);
      this.sendLater();
    } else {
      outbox.postLater(recordMessageOf(record, bodies), buffersOf(bodies));
    }
    if (this.#open.size === 0) this.#onNoneOpen();
  };

  /** Sends what is written, and the successes, together with what follows soon. */
  readonly sendLater = (): void => {
    this.#cancelSend ??= this.options.clock.after(WRITTEN_MS, this.send);
  };

  /** Sends it now. A message by itself: its texts are copied faster than they would be written as JSON. */
  readonly send = (): void => {
    const messages = this.#take();
    if (messages.length > 0) this.options.send(messages);
  };

  /** Sends a report of leases, and takes along what is written of requests. */
  readonly sendWith = (report: LeaseReport): void => this.options.send([report, ...this.#take()]);

  /** Resolves when all requests have ended, at the latest after 3 s. */
  async noneOpen(): Promise<void> {
    if (this.#open.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onNoneOpen = resolve;
    await waitAtMost(this.options.clock, LAST_RECORDS_MS, promise);
  }

  #take(): FromServing[] {
    this.#cancelSend?.();
    this.#cancelSend = null;
    const successes = this.options.takeSuccesses();
    const messages: FromServing[] = successes.length > 0 ? [{ type: "successes", successes }] : [];
    if (this.#writer.size === 0) return messages;
    const announced = this.#announcedIds;
    this.#announcedIds = [];
    return [...messages, { type: "records", ...this.#writer.take(), announced }];
  }
}

function buffersOf(bodies: CapturedBodies | null): ArrayBuffer[] {
  return [bodies?.request?.buffer, bodies?.response?.buffer].filter((buffer) => buffer !== undefined);
}
