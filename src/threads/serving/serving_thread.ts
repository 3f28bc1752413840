import { plainErrorOf } from "../state/plain_error.ts";
import { type SharedLinks, type SharedParts, SharedState } from "../state/shared_state.ts";
import { startStateThread, type StateThread, type StateThreadOptions } from "../state/state_thread.ts";
import type { FromStateThread, StateThreadData } from "../state/messages.ts";
import type { Moved, WorkerThreadEvents } from "../../platform/workers/worker_thread.ts";
import type { FromServing, ServingData, ToServing } from "./messages.ts";
import { Outbox } from "./outbox.ts";
import { readMessages } from "./wire.ts";

/** How serving threads are started. */
export interface ServingThreadParts extends SharedParts {
  /** The module that each thread runs. It receives `ServingData` and exchanges lists of messages. */
  readonly entry: URL;
  /** The JavaScript heap limit of each thread in megabytes. */
  readonly heapMegabytes: number;
  /** Replaces the threads in tests. Default: threads that run `entry`. */
  readonly start?: (events: WorkerThreadEvents) => StateThread;
}

/** What one serving thread is started with. */
export interface ServingThreadStart extends Pick<StateThreadOptions, "kind"> {
  readonly data: Omit<ServingData, keyof StateThreadData>;
  /** What its requests need of whoever started it. */
  readonly links: Omit<SharedLinks, "result" | "overdrawn">;
}

/** What a serving thread says, other than about the state. */
export type ServingMessage = Exclude<FromServing, FromStateThread>;

/** What becomes of a serving thread. */
export interface ServingThreadEvents {
  onMessage(message: ServingMessage): void;
  /** It has ended or failed, before {@linkcode ServingThread.end}. It must be ended. */
  onCrash(reason: string): void;
}

/**
 * The main thread's end of a thread that answers requests: of connections that it accepts, or such as it is handed. Its
 * requests have access to the state of the main thread.
 */
export class ServingThread {
  readonly state: SharedState;
  /** Whether it has sent a message, which shows that it has started. */
  hasStarted = false;
  readonly #thread: StateThread;
  readonly #outbox: Outbox<ToServing>;
  #isEnded = false;

  /**
   * Starts the thread.
   *
   * @throws {ThreadUnavailable} If too few descriptors are free.
   */
  constructor(parts: ServingThreadParts, { kind, data, links }: ServingThreadStart, events: ServingThreadEvents) {
    const { entry, heapMegabytes, store } = parts;
    const threadEvents: WorkerThreadEvents = {
      onMessage: (posted) => {
        this.hasStarted = true;
        for (const message of readMessages<FromServing>(posted)) this.#take(message, events);
      },
      onCrash: (reason) => events.onCrash(reason),
    };
    const thread = parts.start?.(threadEvents) ??
      startStateThread({ kind, entry, heapMegabytes, store, data: { ...data } }, threadEvents);
    this.#thread = thread;
    this.#outbox = new Outbox(
      (messages, moved) => {
        // The ports of requests that have failed with the thread are closed, and cannot be sent.
        if (!this.#isEnded) thread.post(messages, moved);
      },
      (message, error) => this.#onUnsent(message, error),
    );
    this.state = new SharedState(parts, {
      ...links,
      result: (message, moved) => this.#outbox.post(message, moved),
      overdrawn: (admission) => this.post({ type: "overdrawn", admission }),
    });
  }

  /** Sends it a message. */
  post(message: ToServing, moved: readonly Moved[] = []): void {
    this.#outbox.post(message, moved);
  }

  /** Whether it keeps the process alive. */
  setReferenced(isReferenced: boolean): void {
    this.#thread.setReferenced(isReferenced);
  }

  /** Ends the thread. Resolves when its calls are charged or released. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#thread.setReferenced(false);
    this.#thread.terminate();
    await this.state.onThreadEnd();
  }

  #take(message: FromServing, events: ServingThreadEvents): void {
    switch (message.type) {
      case "question":
        return this.#thread.sendResult({ id: message.id, value: this.state.resultOf(message.question) });
      case "acknowledged":
      case "lease-report":
      case "listening":
      case "unable":
      case "record":
      case "public-wrong-key":
      case "successes":
      case "records":
      case "open-requests":
      case "failed":
      case "stopped":
      case "parsed":
      case "ended":
        return events.onMessage(message);
      default:
        return this.state.onMessage(message);
    }
  }

  /** A result that cannot be sent is a failure for the call that waits for it. */
  #onUnsent(message: ToServing, error: unknown): void {
    if (message.type !== "result" || message.failure !== undefined) return reportError(error);
    this.#outbox.post({ type: "result", call: message.call, failure: plainErrorOf(error) });
  }
}
