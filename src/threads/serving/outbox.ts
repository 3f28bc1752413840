import { setImmediate } from "node:timers";
import type { Posted } from "./wire.ts";
import { writeMessages } from "./wire.ts";
import type { FromIsolate, ToIsolate } from "./messages.ts";

/** How long a message may wait for others that cannot wait. */
const LATER_MS = 20;

/**
 * The messages to another thread that are not sent yet. A message costs the receiver and the sender more by itself than
 * its content, so that all messages of a turn of the event loop are sent as one.
 */
export class Outbox<M extends FromIsolate | ToIsolate> {
  #messages: M[] = [];
  /** The buffers of each message that has any. */
  #transfer: { readonly message: M; readonly buffers: readonly ArrayBuffer[] }[] = [];
  #isDue = false;
  #isTimed = false;

  /**
   * @param send Sends messages, and moves buffers.
   * @param onUnsent Receives a message that cannot be sent, such as one with a buffer that has moved before, and why.
   * Whoever waits for its answer must learn of it. Default: it is reported.
   */
  constructor(
    readonly send: (messages: Posted, transfer: ArrayBuffer[]) => void,
    readonly onUnsent: (message: M, error: unknown) => void = (_message, error) => reportError(error),
  ) {}

  /** Sends a message at the end of the turn, after those that were posted before. */
  post(message: M, transfer: readonly ArrayBuffer[] = []): void {
    this.#add(message, transfer);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#flushDue);
  }

  /** Sends a message together with the next that cannot wait, at the latest after 20 ms. */
  postLater(message: M, transfer: readonly ArrayBuffer[] = []): void {
    this.#add(message, transfer);
    if (this.#isDue || this.#isTimed) return;
    this.#isTimed = true;
    setTimeout(this.#flushTimed, LATER_MS);
  }

  /** Sends everything now. */
  flush(): void {
    if (this.#messages.length === 0) return;
    const [messages, transfer] = [this.#messages, this.#transfer];
    this.#messages = [];
    this.#transfer = [];
    try {
      this.send(writeMessages(messages), transfer.flatMap(({ buffers }) => buffers));
    } catch (error) {
      if (messages.length === 1 && messages[0] !== undefined) return this.onUnsent(messages[0], error);
      for (const message of messages) this.#sendAlone(message, transfer);
    }
  }

  /** Sends a message by itself after all of them could not be sent: the others are of other requests. */
  #sendAlone(message: M, transfer: readonly { readonly message: M; readonly buffers: readonly ArrayBuffer[] }[]): void {
    try {
      const own = transfer.filter((each) => each.message === message);
      this.send(writeMessages([message]), own.flatMap(({ buffers }) => buffers));
    } catch (error) {
      this.onUnsent(message, error);
    }
  }

  #add(message: M, transfer: readonly ArrayBuffer[]): void {
    this.#messages.push(message);
    if (transfer.length > 0) this.#transfer.push({ message, buffers: transfer });
  }

  readonly #flushDue = (): void => {
    this.#isDue = false;
    this.flush();
  };

  readonly #flushTimed = (): void => {
    this.#isTimed = false;
    this.flush();
  };
}
